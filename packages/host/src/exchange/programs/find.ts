import { glob, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { z } from "zod";
import type { Redact } from "../../redaction/redactor.ts";
import { readClaudeCode } from "./claude-code.ts";
import { readCodex } from "./codex.ts";
import { SURROUNDINGS } from "./codex-lines.ts";
import { openOpencode, readOpencode } from "./opencode.ts";
import type { PastSession, Program } from "./past-session.ts";
import { readPi } from "./pi.ts";
import { jsonLines, Left } from "./reading.ts";

/** A session of another program on this machine, as far as its beginning tells. */
export interface FoundSession {
  readonly program: Program;
  /** What the program calls it. */
  readonly id: string;
  /** The file that it is in; of opencode, with all others. */
  readonly file: string;
  readonly directory?: string | undefined;
  /** The title of the session, or its first words, without secrets (S10); empty if it has neither. */
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly updatedAt: number;
}

/** Where each program keeps its sessions, as it finds them itself. */
export function sessionFolders(
  env: Readonly<Record<string, string | undefined>>,
  home: string,
): Readonly<Record<Program, string>> {
  return {
    "claude-code": join(env.CLAUDE_CONFIG_DIR || join(home, ".claude"), "projects"),
    codex: join(env.CODEX_HOME || join(home, ".codex"), "sessions"),
    pi: join(env.PI_CODING_AGENT_DIR || join(home, ".pi", "agent"), "sessions"),
    opencode: join(env.XDG_DATA_HOME || join(home, ".local", "share"), "opencode"),
  };
}

/**
 * The sessions in a file or below a folder, of one program or of any, the last written first; none where nothing is there. Those
 * of agents that were launched come with the session that launched them. Titles have no secrets. Rejects when a file that is
 * named cannot be read.
 */
export async function sessionsIn(path: string, redact: Redact, program?: Program): Promise<FoundSession[]> {
  const found: FoundSession[] = [];
  const whole = await stat(path).catch(() => undefined);
  if (whole?.isFile()) found.push(...(await sessionsOf(path, true)));
  else if (whole)
    // What cannot be read hides nothing else.
    for await (const name of glob("**/*.{jsonl,jsonl.zst,db}", { cwd: path }))
      found.push(...(await sessionsOf(join(path, name)).catch(() => [])));
  const wanted = program === undefined ? found : found.filter((each) => each.program === program);
  // A session that goes on in a file of its own is one, and called as it began.
  const sessions = Map.groupBy(wanted, (each) => `${each.program} ${each.id}`).values();
  return [...sessions]
    .map(oneOf)
    .map((each) => ({ ...each, title: redact(each.title) }))
    .sort((a, b) => b.updatedAt - a.updatedAt);
}

function oneOf(files: readonly FoundSession[]): FoundSession {
  const [first, ...rest] = files.toSorted((a, b) => (a.file < b.file ? -1 : 1)) as [FoundSession, ...FoundSession[]];
  return { ...first, updatedAt: Math.max(...[first, ...rest].map((each) => each.updatedAt)) };
}

/** Reads a session whole. Rejects when its file cannot be read at all. */
export async function readSession({ program, file, id }: FoundSession): Promise<PastSession> {
  switch (program) {
    case "claude-code":
      return readClaudeCode(file);
    case "codex":
      return readCodex(file);
    case "pi":
      return readPi(file);
    case "opencode": {
      using database = openOpencode(file);
      return readOpencode(database, id);
    }
  }
}

/** `isNamed`: a person named this very file, so that a session which belongs to another is meant too. */
async function sessionsOf(file: string, isNamed = false): Promise<FoundSession[]> {
  if (file.endsWith(".db")) return opencodeSessions(file);
  if (!isNamed && basename(file).startsWith("agent-")) return [];
  const head = await headOf(file);
  if (!head || (head.isLaunched && !isNamed)) return [];
  const { mtimeMs: updatedAt } = await stat(file);
  const { program, id = basename(file, ".jsonl"), directory, title = "" } = head;
  return [{ program, id, file, directory, title, updatedAt }];
}

/** Lines from which a session is known. */
const HEAD = 100;

interface Head {
  readonly program: Program;
  readonly id?: string | undefined;
  readonly directory?: string | undefined;
  readonly title?: string | undefined;
  /** It is that of an agent which another session launched. */
  readonly isLaunched?: boolean | undefined;
}

/** What the beginning of a file tells; nothing when it is of no program that is known. */
async function headOf(file: string): Promise<Head | undefined> {
  let head: Head | undefined;
  let read = 0;
  for await (const { value } of jsonLines(file, new Left())) {
    const told = toldBy(value) ?? {};
    const program = head?.program ?? told.program;
    if (program !== undefined)
      head = {
        program,
        id: head?.id ?? told.id,
        directory: head?.directory ?? told.directory,
        title: head?.title ?? told.title,
        isLaunched: head?.isLaunched ?? told.isLaunched,
      };
    if (++read >= HEAD || (head?.title !== undefined && head.directory !== undefined)) break;
  }
  return head;
}

const words = z.union([
  z.string(),
  z.array(z.looseObject({ text: z.string().optional() })).transform((parts) => parts.find(({ text }) => text)?.text),
]);
const told = z.union([
  z
    .looseObject({
      type: z.literal("session_meta"),
      payload: z.looseObject({ id: z.string(), cwd: z.string().optional(), source: z.unknown().optional() }),
    })
    .transform(
      ({ payload: { id, cwd, source } }): Partial<Head> => ({
        ...{ program: "codex", id, directory: cwd },
        isLaunched: typeof source === "object" && source !== null && "subagent" in source,
      }),
    ),
  z
    .looseObject({
      type: z.literal("response_item"),
      payload: z.looseObject({ type: z.literal("message"), role: z.literal("user"), content: words }),
    })
    .transform(
      ({ payload: { content = "" } }): Partial<Head> => (SURROUNDINGS.test(content) ? {} : { title: content }),
    ),
  z
    .looseObject({ type: z.literal("session"), id: z.string(), cwd: z.string() })
    .transform(({ id, cwd }): Partial<Head> => ({ program: "pi", id, directory: cwd })),
  z
    .looseObject({ type: z.literal("message"), message: z.looseObject({ role: z.literal("user"), content: words }) })
    .transform(({ message }): Partial<Head> => ({ title: message.content })),
  z
    .looseObject({
      sessionId: z.string(),
      type: z.string(),
      cwd: z.string().optional(),
      isMeta: z.boolean().optional(),
      message: z.looseObject({ content: words }).optional(),
    })
    .transform(({ type, cwd, isMeta, message }): Partial<Head> => {
      const said = type === "user" && !isMeta ? message?.content : undefined;
      const title = said === undefined || SURROUNDINGS.test(said) ? {} : { title: said };
      return { program: "claude-code", directory: cwd, ...title };
    }),
]);

/** What one line tells of the session in which it stands. */
function toldBy(line: unknown): Partial<Head> | undefined {
  return told.safeParse(line).data;
}

function opencodeSessions(file: string): FoundSession[] {
  using database = openOpencode(file);
  const rows = database.prepare("SELECT id, title, directory, time_updated FROM session WHERE parent_id IS NULL").all();
  return rows.map(({ id, title, directory, time_updated }) => ({
    ...{ program: "opencode", file, id: String(id), title: String(title), updatedAt: Number(time_updated) },
    ...(typeof directory === "string" && { directory }),
  }));
}
