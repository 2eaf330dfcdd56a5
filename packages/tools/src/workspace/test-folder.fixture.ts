import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { emptyConversation, type Tool, type ToolContext } from "@banyan/core";
import type { ZodType } from "zod";

const isRoot = process.geteuid?.() === 0;
const NOBODY = 65_534;

/** A temporary folder for one test. Dispose of it to remove the folder. */
export class TestFolder implements Disposable {
  readonly #outer = realpathSync(mkdtempSync(join(tmpdir(), "banyan-workspace-")));
  /** The workspace. Its sibling folders are outside the workspace. */
  readonly root = join(this.#outer, "root");
  readonly outside = join(this.#outer, "outside");

  constructor(files: Readonly<Record<string, string | Uint8Array>> = {}) {
    mkdirSync(this.root);
    mkdirSync(this.outside);
    writeFileSync(join(this.outside, "secret.txt"), "secret\n");
    for (const [path, content] of Object.entries(files)) this.add(path, content);
  }

  add(path: string, content: string | Uint8Array): string {
    const full = join(this.root, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, content);
    return full;
  }

  path(path: string): string {
    return join(this.root, path);
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), "latin1");
  }

  /** Returns the names in a folder of the workspace. */
  names(path = "."): string[] {
    return readdirSync(join(this.root, path)).sort();
  }

  /** Runs a function as a user without special rights. */
  async asOrdinaryUser(run: () => Promise<void>): Promise<void> {
    if (!isRoot) return run();
    for (let above = this.root; above !== dirname(tmpdir()); above = dirname(above)) chmodSync(above, 0o755);
    process.seteuid?.(NOBODY);
    try {
      await run();
    } finally {
      process.seteuid?.(0);
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.#outer, { recursive: true, force: true });
  }
}

/** Returns whether a test can run as an ordinary user. Root can read everything, and another user may be unable to read these sources. */
export function canBeOrdinaryUser(): boolean {
  if (!isRoot) return true;
  process.seteuid?.(NOBODY);
  try {
    readFileSync(import.meta.filename);
    return true;
  } catch {
    return false;
  } finally {
    process.seteuid?.(0);
  }
}

/** Calls a tool like the engine, with checked arguments. Returns a text. */
export async function call(
  tool: Tool,
  input: Readonly<Record<string, unknown>>,
  context: Partial<ToolContext> = {},
): Promise<string> {
  const answer = await tool.execute(await checked(tool, input), {
    context: undefined,
    call: "call-1",
    attempt: 1,
    key: "key-1",
    signal: new AbortController().signal,
    hurry: new AbortController().signal,
    conversation: emptyConversation(),
    path: [],
    wholePath: async () => [],
    step: 1,
    agent: "test",
    progress() {},
    attach() {},
    saw() {},
    changedFiles() {},
    interject: async () => {},
    follow() {},
    draft() {},
    changed: async () => {},
    stay: async () => "p1",
    permit: async () => ({ decision: "allow" }),
    ask: async () => "",
    launch: async () => {
      throw new Error("No sub-agent here.");
    },
    finish() {},
    summarize: async () => ({ messages: 0, tokens: 0 }),
    ...context,
  });
  if (typeof answer !== "string") throw new TypeError(`The tool ${tool.name} answered ${typeof answer}, not text.`);
  return answer;
}

/** Returns the checked arguments. Throws the reason if they are invalid. */
async function checked({ input: schema }: Tool, input: unknown): Promise<unknown> {
  if (!("~standard" in schema)) return input;
  const { error, data } = await (schema as unknown as ZodType).safeParseAsync(input);
  if (error) throw new TypeError(error.issues.map(({ message }) => message).join("; "));
  return data;
}
