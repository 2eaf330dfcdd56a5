import { glob, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { z } from "zod";
import type { Redact } from "../../redaction/redactor.ts";
import { readClaudeCode } from "./claude-code.ts";
import { readCodex } from "./codex.ts";
import { SURROUNDINGS } from "./codex-lines.ts";
import { ImportOmissions, jsonLines } from "./json-lines.ts";
import { openOpencode, readOpencode } from "./opencode.ts";
import type { ForeignProgram, PastSession } from "./past-session.ts";
import { readPi } from "./pi.ts";

/** A session of another program on this machine, described by the beginning of its file. See {@link readSession}. */
export interface FoundSession {
  readonly program: ForeignProgram;
  readonly id: string;
  /** The file of the session. For opencode, one file contains all sessions. */
  readonly file: string;
  readonly directory?: string | undefined;
  /** The title or the first words, without secrets (S10). May be empty. */
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly updatedAt: number;
}

/**
 * Returns the folder with each program's sessions.
 * @example sessionFolders({}, "/home/me").codex // "/home/me/.codex/sessions"
 */
export function sessionFolders(
  env: Readonly<Record<string, string | undefined>>,
  home: string,
): Readonly<Record<ForeignProgram, string>> {
  return {
    "claude-code": join(env.CLAUDE_CONFIG_DIR || join(home, ".claude"), "projects"),
    codex: join(env.CODEX_HOME || join(home, ".codex"), "sessions"),
    pi: join(env.PI_CODING_AGENT_DIR || join(home, ".pi", "agent"), "sessions"),
    opencode: join(env.XDG_DATA_HOME || join(home, ".local", "share"), "opencode"),
  };
}

/**
 * Lists the sessions of one program or of all in a file or below a folder, last written first. Leaves out sub-agents.
 * Returns an empty list if the path does not exist. Titles have no secrets. Rejects if a named file cannot be read.
 * @example
 * const redact = redactor({ env: process.env });
 * for (const { program, title } of await sessionsIn(homedir(), redact)) console.log(PROGRAMS[program], title);
 */
export async function sessionsIn(path: string, redact: Redact, program?: ForeignProgram): Promise<FoundSession[]> {
  const found: FoundSession[] = [];
  const whole = await stat(path).catch(() => undefined);
  if (whole?.isFile()) found.push(...(await sessionsOf(path, true)));
  else if (whole)
    // An unreadable file does not hide the others.
    for await (const name of glob("**/*.{jsonl,jsonl.zst,db}", { cwd: path }))
      found.push(...(await sessionsOf(join(path, name)).catch(() => [])));
  const wanted = program === undefined ? found : found.filter((each) => each.program === program);
  // A session in several files has the title of its first file.
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

/**
 * Reads a whole session. Rejects if its file cannot be read.
 * @example
 * const [found] = await sessionsIn("session.jsonl", redactor({ env: process.env }));
 * if (found) console.log((await readSession(found)).messages.length);
 */
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

/** `isNamed`: the user named this file, so a sub-agent's session is listed too. */
async function sessionsOf(file: string, isNamed = false): Promise<FoundSession[]> {
  if (file.endsWith(".db")) return opencodeSessions(file);
  if (!isNamed && basename(file).startsWith("agent-")) return [];
  const head = await readSessionHead(file);
  if (!head || (head.isLaunched && !isNamed)) return [];
  const { mtimeMs: updatedAt } = await stat(file);
  const { program, id = basename(file, ".jsonl"), directory, title = "" } = head;
  return [{ program, id, file, directory, title, updatedAt }];
}

const HEAD = 100;

interface SessionHead {
  readonly program: ForeignProgram;
  readonly id?: string | undefined;
  readonly directory?: string | undefined;
  readonly title?: string | undefined;
  readonly isLaunched?: boolean | undefined;
}

/** Undefined if the format is unknown. */
async function readSessionHead(file: string): Promise<SessionHead | undefined> {
  let head: SessionHead | undefined;
  let read = 0;
  for await (const { value } of jsonLines(file, new ImportOmissions())) {
    const facts = sessionFacts.safeParse(value).data ?? {};
    const program = head?.program ?? facts.program;
    if (program !== undefined)
      head = {
        program,
        id: head?.id ?? facts.id,
        directory: head?.directory ?? facts.directory,
        title: head?.title ?? facts.title,
        isLaunched: head?.isLaunched ?? facts.isLaunched,
      };
    if (++read >= HEAD || (head?.title !== undefined && head.directory !== undefined)) break;
  }
  return head;
}

const words = z.union([
  z.string(),
  z.array(z.looseObject({ text: z.string().optional() })).transform((parts) => parts.find(({ text }) => text)?.text),
]);
const sessionFacts = z.union([
  z
    .looseObject({
      type: z.literal("session_meta"),
      payload: z.looseObject({ id: z.string(), cwd: z.string().optional(), source: z.unknown().optional() }),
    })
    .transform(
      ({ payload: { id, cwd, source } }): Partial<SessionHead> => ({
        program: "codex",
        id,
        directory: cwd,
        isLaunched: typeof source === "object" && source !== null && "subagent" in source,
      }),
    ),
  z
    .looseObject({
      type: z.literal("response_item"),
      payload: z.looseObject({ type: z.literal("message"), role: z.literal("user"), content: words }),
    })
    .transform(
      ({ payload: { content = "" } }): Partial<SessionHead> => (SURROUNDINGS.test(content) ? {} : { title: content }),
    ),
  z
    .looseObject({ type: z.literal("session"), id: z.string(), cwd: z.string() })
    .transform(({ id, cwd }): Partial<SessionHead> => ({ program: "pi", id, directory: cwd })),
  z
    .looseObject({ type: z.literal("message"), message: z.looseObject({ role: z.literal("user"), content: words }) })
    .transform(({ message }): Partial<SessionHead> => ({ title: message.content })),
  z
    .looseObject({
      sessionId: z.string(),
      type: z.string(),
      cwd: z.string().optional(),
      isMeta: z.boolean().optional(),
      message: z.looseObject({ content: words }).optional(),
    })
    .transform(({ type, cwd, isMeta, message }): Partial<SessionHead> => {
      const said = type === "user" && !isMeta ? message?.content : undefined;
      const title = said === undefined || SURROUNDINGS.test(said) ? {} : { title: said };
      return { program: "claude-code", directory: cwd, ...title };
    }),
]);

function opencodeSessions(file: string): FoundSession[] {
  using database = openOpencode(file);
  const rows = database.prepare("SELECT id, title, directory, time_updated FROM session WHERE parent_id IS NULL").all();
  return rows.map(({ id, title, directory, time_updated }) => ({
    program: "opencode",
    file,
    id: String(id),
    title: String(title),
    updatedAt: Number(time_updated),
    ...(typeof directory === "string" && { directory }),
  }));
}
