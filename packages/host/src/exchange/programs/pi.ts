import { basename } from "node:path";
import { cleanCost, cleanUsage, type Finish, type Json, type Usage, type UserPart } from "@banyan/core/conversation";
import { z } from "zod";
import { ImportOmissions, jsonLines } from "./json-lines.ts";
import { type PastCall, type PastMessage, type PastResponse, type PastSession, textPart } from "./past-session.ts";

// A session is a file: a head, and lines that form a tree by `id` and `parentId`. In version 1, each line follows the
// line before.

const block = z.looseObject({ type: z.string() });
const content = z.union([z.string(), z.array(block)]);
const tokens = z.looseObject({
  input: z.number().optional(),
  output: z.number().optional(),
  cacheRead: z.number().optional(),
  cacheWrite: z.number().optional(),
  cost: z.looseObject({ total: z.number().optional() }).optional(),
});
const head = z.looseObject({ id: z.string(), cwd: z.string().optional(), parentSession: z.string().optional() });
const entry = z.looseObject({
  type: z.string(),
  id: z.string().optional(),
  parentId: z.string().nullish(),
  timestamp: z.string().optional(),
  summary: z.string().optional(),
  usage: tokens.optional(),
  firstKeptEntryId: z.string().optional(),
  retainedTail: z.array(z.looseObject({ role: z.string() })).optional(),
  name: z.string().optional(),
  targetId: z.string().optional(),
  label: z.string().nullish(),
  content: content.optional(),
  message: z
    .looseObject({
      role: z.string(),
      content: content.optional(),
      provider: z.string().optional(),
      model: z.string().optional(),
      usage: tokens.optional(),
      stopReason: z.string().optional(),
      errorMessage: z.string().optional(),
      toolCallId: z.string().optional(),
      isError: z.boolean().optional(),
      command: z.string().optional(),
      output: z.string().optional(),
      excludeFromContext: z.boolean().optional(),
    })
    .optional(),
});
type PiEntry = z.infer<typeof entry>;
type PiMessage = NonNullable<PiEntry["message"]>;

/** Reads a session of pi from a file in `~/.pi/agent/sessions`. */
export async function readPi(file: string): Promise<PastSession> {
  const reading = new PiSessionReader();
  for await (const { line, value } of jsonLines(file, reading.left)) reading.take(value, line);
  const { id = basename(file, ".jsonl"), directory, title, beganAt, forkOf, messages } = reading;
  return {
    program: "pi",
    id,
    directory,
    title,
    beganAt,
    forkOf,
    left: reading.left.told,
    messages: [...messages.values()],
  };
}

class PiSessionReader {
  id: string | undefined;
  directory: string | undefined;
  title: string | undefined;
  forkOf: string | undefined;
  beganAt = 0;
  readonly left = new ImportOmissions();
  readonly messages = new Map<string, PastMessage>();
  /** For each line id: the message below which the children of the line come. */
  readonly #places = new Map<string, string | null>();
  readonly #calls = new Map<string, { -readonly [K in keyof PastCall]: PastCall[K] }>();
  #last: string | null = null;
  #at = 0;

  take(value: Readonly<Record<string, unknown>>, line: number): void {
    if (value.type === "session") {
      const known = head.safeParse(value).data;
      this.id = known?.id;
      this.directory = known?.cwd;
      // The path of a file whose name ends with the id.
      this.forkOf = known?.parentSession && /([^_/\\]+)\.jsonl$/.exec(known.parentSession)?.[1];
      this.#at = this.beganAt = Date.parse(String(value.timestamp)) || 0;
      return;
    }
    const parsed = entry.safeParse(value);
    if (!parsed.success)
      return this.left.note(`a line in an unknown format: ${parsed.error.issues[0]?.path.join(".")}`, line);
    const read = parsed.data;
    this.#at = Date.parse(read.timestamp ?? "") || this.#at;
    const key = read.id ?? `line ${line}`;
    const place = this.#message(read, key, this.#parentOf(read, line), line);
    this.#places.set(key, place);
    this.#last = place;
  }

  #parentOf({ parentId }: PiEntry, line: number): string | null {
    if (parentId === undefined) return this.#last;
    if (parentId === null) return null;
    const place = this.#places.get(parentId);
    if (place !== undefined) return place;
    this.left.note("earlier messages are missing, so this message follows the last message before the gap", line);
    return this.#last;
  }

  /** Returns the message that the next line follows. */
  #message(read: PiEntry, key: string, parent: string | null, line: number): string | null {
    const put = (message: PastMessage) => {
      this.messages.set(key, message);
      return key;
    };
    const system = (words: z.infer<typeof content>) => {
      const parts = this.#userParts(words, line);
      return parts.length === 0 ? parent : put({ ...base, role: "user", author: "system", parts });
    };
    const base = { key, parent, at: this.#at };
    switch (read.type) {
      case "message":
        return read.message ? this.#said(read.message, base, line) : parent;
      case "compaction": {
        const covers = this.#covered(read, parent);
        if (covers === null || read.summary === undefined) return parent;
        return put({ ...base, role: "summary", text: read.summary, covers, usage: piUsage(read.usage) });
      }
      case "branch_summary":
        return system(`An earlier branch of this session was abandoned. Its summary:\n\n${read.summary ?? ""}`);
      case "custom_message":
        return system(read.content ?? "");
      case "session_info":
        this.title = read.name ?? this.title;
        return parent;
      case "label":
        this.#label(read);
        return parent;
      case "custom":
        this.left.note("private data of an extension", line);
        return parent;
      case "model_change":
      case "thinking_level_change":
        return parent;
      default:
        this.left.note(`“${read.type}”, which is unknown`, line);
        return parent;
    }
  }

  #label({ targetId = "", label }: PiEntry): void {
    const message = this.messages.get(this.#places.get(targetId) ?? "");
    if (message) this.messages.set(message.key, { ...message, label: label ?? undefined });
  }

  #said(
    message: PiMessage,
    base: { readonly key: string; readonly parent: string | null; readonly at: number },
    line: number,
  ): string | null {
    const { content: words = "" } = message;
    switch (message.role) {
      case "user": {
        const parts = this.#userParts(words, line);
        if (parts.length === 0) return base.parent;
        this.messages.set(base.key, { ...base, role: "user", parts });
        return base.key;
      }
      case "assistant":
        this.messages.set(base.key, { ...base, ...this.#response(message, line) });
        return base.key;
      case "toolResult":
        this.#result(message, line);
        return base.parent;
      case "bashExecution": {
        if (message.excludeFromContext) {
          this.left.note("a command hidden from the agent", line);
          return base.parent;
        }
        const text = `I ran \`${message.command ?? ""}\`:\n\n\`\`\`\n${message.output ?? ""}\n\`\`\``;
        this.messages.set(base.key, { ...base, role: "user", parts: [{ type: "text", text }] });
        return base.key;
      }
      default:
        this.left.note(`a message of “${message.role}”, which is unknown`, line);
        return base.parent;
    }
  }

  #response(message: PiMessage, line: number): PastResponse {
    const { content: words = "", provider = "unknown", model = "unknown", stopReason, errorMessage, usage } = message;
    const blocks = typeof words === "string" ? [{ type: "text", text: words }] : words;
    const parts = blocks.flatMap((each): PastResponse["parts"] => {
      if (each.type === "text") return textPart(String(each.text ?? ""));
      if (each.type === "thinking") return each.thinking ? [{ type: "reasoning", text: String(each.thinking) }] : [];
      if (each.type !== "toolCall") {
        this.left.note(`a piece of a response: “${each.type}”`, line);
        return [];
      }
      const input = (each.arguments ?? {}) as Json;
      const call = { type: "call" as const, id: String(each.id), tool: String(each.name), input };
      this.#calls.set(call.id, call);
      return [call];
    });
    const asks = parts.some(({ type }) => type === "call");
    return {
      role: "assistant",
      model: `${provider}/${model}`,
      parts,
      usage: piUsage(usage),
      cost: cleanCost(usage?.cost?.total),
      finish: FINISHES[stopReason ?? ""] ?? (asks ? "calls" : "stop"),
      ...(stopReason === "error" && { error: errorMessage ?? "The model could not answer." }),
    };
  }

  #result({ toolCallId = "", content: words = "", isError }: PiMessage, line: number): void {
    const call = this.#calls.get(toolCallId);
    if (!call) return this.left.note("a result without its call", line);
    if (typeof words !== "string" && words.some(({ type }) => type !== "text"))
      this.left.note("a picture in a result", line);
    const output = piText(words);
    const failed = /^(Tool \S+ not found|Validation failed for tool)\b/.test(output) ? "not-run" : "failed";
    call.result = { status: isError ? failed : "completed", output, at: this.#at };
  }

  #userParts(said: z.infer<typeof content>, line: number): UserPart[] {
    if (typeof said === "string") return textPart(said);
    return said.flatMap((each): readonly UserPart[] => {
      if (each.type === "text") return textPart(String(each.text ?? ""));
      if (each.type === "image" && typeof each.data === "string" && typeof each.mimeType === "string")
        return this.left.userFile({ type: "file", mediaType: each.mimeType, data: each.data }, line);
      this.left.note(`a piece of a message: “${each.type}”`, line);
      return [];
    });
  }

  /** The last message that a summary covers. */
  #covered({ firstKeptEntryId, retainedTail }: PiEntry, parent: string | null): string | null {
    if (firstKeptEntryId !== undefined) {
      const kept = this.messages.get(this.#places.get(firstKeptEntryId) ?? "");
      return kept ? kept.parent : parent;
    }
    const tail = retainedTail?.filter(({ role }) => role !== "toolResult").length ?? 0;
    let place = parent;
    for (let kept = 0; kept < tail && place !== null; kept++) place = this.messages.get(place)?.parent ?? null;
    return place;
  }
}

const FINISHES: Readonly<Record<string, Finish>> = {
  stop: "stop",
  length: "length",
  toolUse: "calls",
  error: "error",
  aborted: "interrupted",
};

function piText(said: z.infer<typeof content>): string {
  if (typeof said === "string") return said;
  return said.flatMap(({ type, text }) => (type === "text" ? [String(text ?? "")] : [])).join("\n\n");
}

function piUsage(read: z.infer<typeof tokens> | undefined): Usage | undefined {
  if (!read) return undefined;
  const { input: fresh = 0, cacheRead: cached = 0, cacheWrite = 0, output } = read;
  return cleanUsage({ input: fresh + cached + cacheWrite, cached, cacheWrite, output });
}
