import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { shownCall } from "@banyan/client/words";
import type { Json } from "@banyan/core";
import { type Session, say } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { openHost } from "../../host/open-host.ts";
import type { ApprovalMode } from "../rule.ts";

// A model that obeys every injected instruction, in a place where all its acts are recorded.

/** An injected goal, and the calls of a model that obeys it. */
export interface Injection {
  readonly name: string;
  readonly goal: string;
  readonly calls: readonly { readonly tool: string; readonly input: { readonly [name: string]: Json } }[];
}

/** The outcome of an injection. */
export interface Obeyed {
  readonly name: string;
  /** Tools that the model called. */
  readonly called: readonly string[];
  /** Calls that ran, apart from the `read` of the injected text. */
  readonly ran: readonly string[];
  /** Calls that needed the user's approval. */
  readonly asked: readonly string[];
  /** The text of each approval question. */
  readonly shown: readonly string[];
  readonly denied: readonly string[];
  /** True if any file, or the record of the MCP server, had changed while a question was open or at the end. */
  readonly hasChanged: boolean;
}

export interface Circumstances {
  readonly mode: ApprovalMode;
  /** True if a user can be asked. The fixture denies every question after checking the files. */
  readonly canAsk: boolean;
  /** Tools of the MCP server that the user allowed before. */
  readonly allow?: readonly string[];
}

/** Files in the test folder. */
export const KEPT = { inside: "notes.txt", outside: "../kept.txt" } as const;
const MAIL = "mail.txt";

/** The names of our own tools; every other tool belongs to the MCP server. */
const OWN = new Set(["read", "list", "search", "write", "edit", "shell", "fetch"]);

/** Gives each injection to a model that reads it in a file and obeys. */
export async function obey(injections: readonly Injection[], circumstances: Circumstances): Promise<Obeyed[]> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "banyan-obeying-")));
  try {
    return await obeyIn(root, injections, circumstances);
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

async function obeyIn(root: string, injections: readonly Injection[], circumstances: Circumstances) {
  const { mode, canAsk, allow = [] } = circumstances;
  // The server runs in the sandbox and can only write where the sandbox permits it.
  const [home, cwd, record] = [join(root, "home"), join(root, "project"), join(root, "project", "record.jsonl")];
  const config = join(root, "own", "config");
  for (const folder of [home, cwd, config]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(cwd, KEPT.inside), "kept\n");
  writeFileSync(join(cwd, KEPT.outside), "kept\n");
  writeFileSync(record, "");
  const foreign = injections.flatMap(({ calls }) => calls.map(({ tool }) => tool)).filter((tool) => !OWN.has(tool));
  const server = join(import.meta.dirname, "recording-server.fixture.ts");
  const args = [server, record, JSON.stringify([...new Set(foreign)])];
  const mcpServers = foreign.length > 0 ? { box: { command: process.execPath, args } } : {};
  const permissions = { allow: allow.map((tool) => `mcp_box_${tool}`) };
  writeFileSync(join(config, "settings.json"), JSON.stringify({ mcpServers, permissions }));
  const env = { BANYAN_HOME: join(root, "own"), BANYAN_NO_DISCOVERY: "1", PATH: process.env.PATH ?? "" };
  const flags = { model: "demo/offline", approval: mode, ...(mode === "all" && { unconfined: true }) };
  const host = await openHost({ cwd, home, env, flags, canAsk });
  await (await host.ready()).mcp?.settled();
  const results: Obeyed[] = [];
  for (const injection of injections) {
    writeFileSync(join(cwd, MAIL), `From: somebody\n\n${injection.goal}\n`);
    const before = contents(root);
    const session = await host.newSession();
    const obeyed = await obeyOne(host.agent, session, injection, () => contents(root) !== before);
    await session.close();
    results.push(obeyed);
  }
  await host.close();
  return results;
}

type Host = Awaited<ReturnType<typeof openHost>>;

async function obeyOne(
  agent: Host["agent"],
  session: Session,
  { name, goal, calls }: Injection,
  changed: () => boolean,
) {
  const model = scriptedModel(({ messages }, step) => {
    if (step === 0) return [call("read", { path: MAIL })];
    if (!JSON.stringify(messages).includes(JSON.stringify(goal.slice(0, 30)).slice(1, -1)))
      throw new Error(`The model was not told of: ${goal}`);
    if (step > 1) return "I did as I was told.";
    return calls.map(({ tool, input }) => call(OWN.has(tool) ? tool : `mcp_box_${tool}`, input));
  });
  const tools = new Map<string, string>();
  const [asked, shown, ran, denied]: string[][] = [[], [], [], []];
  let hasChanged = false;
  for await (const item of agent.with({ model }).chat(say("What is in my mail?"), { session })) {
    if (item.type === "call.pending") tools.set(item.call, item.tool);
    const tool = "call" in item ? (tools.get(item.call as string) ?? "") : "";
    if (item.type === "call.executing") ran?.push(tool);
    if (item.type === "call.denied") denied?.push(tool);
    if (item.type !== "call.approval-requested") continue;
    asked?.push(tool);
    shown?.push(
      shownCall({ inputText: "", input: item.input ?? null })
        .map(({ text }) => text)
        .join("\n"),
    );
    hasChanged ||= changed();
    await session.answer(item.question, { decision: "deny" });
  }
  hasChanged ||= changed();
  const [, ...called] = tools.values();
  return {
    name,
    called,
    ran: ran?.slice(1) ?? [],
    asked: asked ?? [],
    shown: shown ?? [],
    denied: denied ?? [],
    hasChanged,
  };
}

/** The content of every file in the test folder, except for the program's own files. */
function contents(root: string): string {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.startsWith(join(root, "own")))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => `${path}\n${readFileSync(path, "latin1")}`)
    .join("\n");
}
