import type { DatabaseSync } from "node:sqlite";
import { cleanCost, cleanUsage, type Finish, type Json, type Usage, type UserPart } from "@banyan/core/conversation";
import { z } from "zod";
import { parseJson } from "../../settings/json-text.ts";
import { ImportOmissions } from "./json-lines.ts";
import {
  type PastCall,
  type PastMessage,
  type PastResponse,
  type PastResult,
  type PastSession,
  pastFileChange,
  textPart,
} from "./past-session.ts";

// One SQLite database has all sessions, with a row per session, message and part, the last two as JSON. `revert` names
// the message from which the user reverted. Sub-agents have their own sessions.

const row = z.object({
  id: z.string(),
  directory: z.string().nullish(),
  title: z.string().nullish(),
  version: z.string().nullish(),
  time_created: z.number(),
  revert: z.string().nullish(),
});
const model = { providerID: z.string().optional(), modelID: z.string().optional() };
const tokens = z.looseObject({
  input: z.number().optional(),
  output: z.number().optional(),
  reasoning: z.number().optional(),
  cache: z.looseObject({ read: z.number().optional(), write: z.number().optional() }).optional(),
});
const info = z.looseObject({
  role: z.enum(["user", "assistant"]),
  ...model,
  summary: z.unknown().optional(),
  cost: z.number().optional(),
  tokens: tokens.optional(),
  finish: z.string().optional(),
  error: z
    .looseObject({ name: z.string(), data: z.looseObject({ message: z.string().optional() }).optional() })
    .optional(),
});
const part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  synthetic: z.boolean().optional(),
  ignored: z.boolean().optional(),
  mime: z.string().optional(),
  filename: z.string().optional(),
  url: z.string().optional(),
  callID: z.string().optional(),
  tool: z.string().optional(),
  tail_start_id: z.string().optional(),
  state: z
    .looseObject({
      status: z.string(),
      input: z.unknown().optional(),
      output: z.string().optional(),
      error: z.string().optional(),
      metadata: z.looseObject({}).optional(),
      attachments: z.array(z.unknown()).optional(),
      time: z.looseObject({ end: z.number().optional() }).optional(),
    })
    .optional(),
});
const wholeDiff = z.looseObject({ file: z.string(), before: z.string(), after: z.string() });
type Info = z.infer<typeof info>;
type OnePart = z.infer<typeof part>;

/** Opens opencode's database read-only; close it with `using`. Throws if the file is no database. */
export function openOpencode(file: string): DatabaseSync {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  return new DatabaseSync(file, { readOnly: true });
}

/** Reads a session of opencode. Throws if the database lacks the expected tables or columns. */
export function readOpencode(database: DatabaseSync, id: string): PastSession {
  const left = new ImportOmissions();
  const found = row.safeParse(database.prepare("SELECT * FROM session WHERE id = ?").get(id)).data;
  const { title, version, directory, time_created: beganAt = 0, revert } = found ?? {};
  const reading = new OpenCodeSessionReader(database, left, directory ?? undefined);
  const messages = reading.messages(id, []);
  const { messageID } = z.object({ messageID: z.string() }).safeParse(parseOpenCodeJson(revert)).data ?? {};
  return {
    program: "opencode",
    id,
    beganAt,
    messages,
    left: left.told,
    ...(version && { version }),
    ...(directory && { directory }),
    ...(title && !/^(New|Child) session - /.test(title) && { title }),
    ...(messageID !== undefined && { takenBack: messageID }),
  };
}

class OpenCodeSessionReader {
  readonly #database: DatabaseSync;
  readonly #left: ImportOmissions;
  readonly #directory: string | undefined;

  constructor(database: DatabaseSync, left: ImportOmissions, directory: string | undefined) {
    this.#database = database;
    this.#left = left;
    this.#directory = directory;
  }

  /** `within`: the sessions above this one. */
  messages(session: string, within: readonly string[]): PastMessage[] {
    const parts = Map.groupBy(this.#rows("part", session), (each) => String(each.message_id));
    const messages: PastMessage[] = [];
    /** By message: the message that the next one follows. */
    const places = new Map<string, string | null>();
    let last: string | null = null;
    let tail: string | undefined;
    for (const { id, time_created, data } of this.#rows("message", session)) {
      const key = String(id);
      const read = info.safeParse(parseOpenCodeJson(data));
      if (!read.success) {
        this.#left.note(`a damaged message: ${key}`);
        continue;
      }
      const own = (parts.get(key) ?? []).flatMap((each) => this.#part(each));
      const place = { key, parent: last, at: Number(time_created) };
      const message = this.#message(read.data, own, place, { session, within });
      const compaction = own.find(({ type }) => type === "compaction");
      if (compaction) tail = compaction.tail_start_id;
      if (message?.role === "assistant" && read.data.summary === true && last !== null) {
        const covers = (tail === undefined ? undefined : places.get(tail)) ?? last;
        const text = own.flatMap((each) => (each.type === "text" ? (each.text ?? "") : [])).join("\n\n");
        messages.push({ ...place, role: "summary", text, covers, usage: message.usage });
        tail = undefined;
        last = key;
      } else if (message) {
        messages.push({ ...place, ...message });
        last = key;
      }
      // The first message that the summary leaves uncompacted.
      places.set(key, place.parent);
    }
    return messages;
  }

  #rows(table: "message" | "part", session: string): readonly Readonly<Record<string, unknown>>[] {
    return this.#database.prepare(`SELECT * FROM ${table} WHERE session_id = ? ORDER BY time_created, id`).all(session);
  }

  #part({ id, data }: Readonly<Record<string, unknown>>): OnePart[] {
    const read = part.safeParse(parseOpenCodeJson(data));
    if (!read.success) this.#left.note(`a damaged piece: ${String(id)}`);
    return read.success ? [read.data] : [];
  }

  #message(
    read: Info,
    parts: readonly OnePart[],
    { at }: { readonly at: number },
    from: { readonly session: string; readonly within: readonly string[] },
  ): Omit<Extract<PastMessage, { readonly role: "user" }>, "key" | "parent" | "at"> | PastResponse | undefined {
    if (read.role === "user") {
      const said = parts.flatMap((each) => this.#userPart(each));
      const author = parts.some(({ type, synthetic }) => type === "text" && !synthetic) ? "user" : "system";
      return said.length === 0 ? undefined : { role: "user", author, parts: said };
    }
    const responseParts = parts.flatMap((each) => this.#responsePart(each, at, from));
    const asks = responseParts.some(({ type }) => type === "call");
    const error = read.error?.data?.message ?? read.error?.name;
    const failed = read.error && (read.error.name === "MessageAbortedError" ? "interrupted" : "error");
    return {
      role: "assistant",
      model: `${read.providerID ?? "unknown"}/${read.modelID ?? "unknown"}`,
      parts: responseParts,
      finish: failed ?? FINISHES[read.finish ?? ""] ?? (asks ? "calls" : "stop"),
      usage: openCodeUsage(read.tokens),
      // 0 means an unknown price.
      ...(read.cost !== undefined && read.cost > 0 && { cost: cleanCost(read.cost) }),
      ...(failed === "error" && { error }),
    };
  }

  #userPart(read: OnePart): readonly UserPart[] {
    if (read.type === "text") return read.ignored ? [] : textPart(read.text ?? "");
    if (read.type === "file") {
      const { url = "", mime: mediaType = "", filename } = read;
      if (/^data:[^;,]{0,200};base64,/.test(url))
        return this.#left.userFile({ type: "file", mediaType, filename, url });
      // A text file's content is in a text part next to it.
      if (read.mime !== "text/plain")
        this.#left.note(`a file that is not in the session: ${read.filename ?? read.url}`);
    } else if (read.type === "subtask") this.#left.note("a task passed on by a command");
    return [];
  }

  #responsePart(
    read: OnePart,
    at: number,
    { session, within }: { readonly session: string; readonly within: readonly string[] },
  ): PastResponse["parts"] {
    if (read.type === "text") return textPart(read.text ?? "");
    if (read.type === "reasoning") return read.text ? [{ type: "reasoning", text: read.text }] : [];
    if (read.type !== "tool" || !read.state) return [];
    const { status, input, output, error = "", metadata, attachments, time } = read.state;
    if (attachments?.length) this.#left.note("a picture in a result");
    const call: PastCall = {
      type: "call",
      id: read.callID ?? "",
      tool: read.tool ?? "",
      input: (input ?? {}) as Json,
      agent: this.#agent(input, metadata, [...within, session]),
    };
    if (status !== "completed" && status !== "error") return [call];
    const isDone = status === "completed" && (typeof metadata?.exit !== "number" || metadata.exit === 0);
    const ended = isDone ? "completed" : openCodeCallStatus(error);
    const result = { status: ended, output: output ?? error, at: time?.end ?? at } as const;
    return [{ ...call, result: { ...result, changes: this.#changes(input, metadata) } }];
  }

  #agent(input: unknown, metadata: unknown, within: readonly string[]): PastCall["agent"] {
    const { sessionId } = z.looseObject({ sessionId: z.string() }).safeParse(metadata).data ?? {};
    if (sessionId === undefined || within.includes(sessionId)) return undefined;
    const { subagent_type: name = "agent" } = z.looseObject({ subagent_type: z.string() }).safeParse(input).data ?? {};
    return { name, messages: this.messages(sessionId, within) };
  }

  /** Newer versions store only the difference of an edit. The call of a new file has the whole content. */
  #changes(input: unknown, metadata: unknown): NonNullable<PastCall["result"]>["changes"] {
    const directory = this.#directory;
    const { filediff } = z.looseObject({ filediff: wholeDiff }).safeParse(metadata).data ?? {};
    if (filediff) return pastFileChange({ path: filediff.file, directory }, filediff.before, filediff.after);
    const isNew = z.looseObject({ exists: z.literal(false) }).safeParse(metadata).success;
    const written = z.looseObject({ filePath: z.string(), content: z.string() }).safeParse(input).data;
    return isNew && written ? pastFileChange({ path: written.filePath, directory }, null, written.content) : undefined;
  }
}

const FINISHES: Readonly<Record<string, Finish>> = {
  stop: "stop",
  "tool-calls": "calls",
  length: "length",
  "content-filter": "filtered",
};

function parseOpenCodeJson(text: unknown): unknown {
  const read = typeof text === "string" ? parseJson(text) : undefined;
  return read?.ok ? read.value : undefined;
}

function openCodeUsage(read: z.infer<typeof tokens> | undefined): Usage | undefined {
  if (!read) return undefined;
  const { input: fresh = 0, output = 0, reasoning = 0, cache } = read;
  const [cached, cacheWrite] = [cache?.read ?? 0, cache?.write ?? 0];
  return cleanUsage({ input: fresh + cached + cacheWrite, cached, cacheWrite, output: output + reasoning, reasoning });
}

/** An error may mean denied by a user, refused by the program before it ran, or failed. */
function openCodeCallStatus(error: string): Exclude<PastResult["status"], "completed"> {
  if (/rejected permission/.test(error)) return "denied";
  return /rule which prevents you from using|called with invalid arguments/.test(error) ? "not-run" : "failed";
}
