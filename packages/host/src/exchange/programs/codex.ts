import { glob } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { FileChange, Json, UserPart } from "@banyan/core/conversation";
import { z } from "zod";
import {
  codexCallStatus,
  codexOutput,
  codexText,
  codexUsage,
  head,
  type Payload,
  parseCodexJson,
  payload,
  SURROUNDINGS,
  type tokens,
} from "./codex-lines.ts";
import { ImportOmissions, jsonLines } from "./json-lines.ts";
import {
  type PastCall,
  type PastMessage,
  type PastPosition,
  type PastResponse,
  type PastSession,
  pastFileChange,
  textPart,
} from "./past-session.ts";

// A session is a file `rollout-<time>-<id>.jsonl`: the items sent to and received from the model, and events. After a
// user reverts turns, the session continues in a new file (`...-<id>_<file>.jsonl`), whose head names the old file and
// the byte up to which it counts. Forks work alike. Launched agents have their own sessions.

/** Events that repeat items or are not part of the conversation. */
const AGAIN =
  /^(user_message|agent_|task_started|turn_started|context_|mcp_|web_search_end|exec_|.*_review_mode|thread_|sub_agent|token_count$)/;

const NOTES: ReadonlySet<unknown> = new Set(["world_state", "inter_agent_communication_metadata", "ghost_snapshot"]);

/** Parts of a file name: the session's id, and the file's id if it is not the session's first file. */
const NAME = /-([0-9a-f]{8}-[0-9a-f-]{27})(?:_([0-9a-f]{8}-[0-9a-f-]{27}))?\.jsonl(\.zst)?$/;

/** Reads a session of Codex from a file and its continuations. `within`: the sessions that led to this file. */
export async function readCodex(file: string, within: readonly string[] = []): Promise<PastSession> {
  const reading = new CodexSessionReader();
  const [, session = ""] = NAME.exec(basename(file)) ?? [];
  const files = await codexFiles(session, dirname(file));
  for (const each of files.length > 0 ? files : [file]) await reading.read(each);
  const { id = basename(file), directory, version, forkOf, beganAt, messages, left } = reading;
  for (const [call, agent] of reading.launched) {
    const [own] = within.includes(agent) ? [] : await codexFiles(agent, dirname(file));
    if (own === undefined) {
      left.note("the work of an agent whose file is missing");
      continue;
    }
    const launched = await readCodex(own, [...within, id]);
    call.agent = { name: "agent", messages: launched.messages };
    for (const what of launched.left) left.note(`of an agent: ${what}`);
  }
  return { program: "codex", version, id, directory, forkOf, beganAt, messages, left: left.told };
}

/** In the order of creation: in the folder of this day, or of other days. */
async function codexFiles(id: string, day: string): Promise<string[]> {
  const found = new Set<string>();
  if (!/^[0-9a-f-]{36}$/.test(id)) return [];
  for (const [cwd, pattern] of [
    [day, `rollout-*${id}*`],
    [join(day, "..", "..", ".."), `*/*/*/rollout-*${id}*`],
  ] as const)
    for await (const name of glob(pattern, { cwd })) if (NAME.test(name)) found.add(join(cwd, name));
  // A file and its compressed copy count once.
  const whole = [...found].filter((name) => !name.endsWith(".zst") || !found.has(name.slice(0, -".zst".length)));
  return whole.sort((a, b) => (basename(a) < basename(b) ? -1 : 1));
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type CodexResponse = Writable<PastResponse> & { parts: PastResponse["parts"][number][] };

class CodexSessionReader {
  id: string | undefined;
  directory: string | undefined;
  version: string | undefined;
  forkOf: string | undefined;
  beganAt = 0;
  readonly left = new ImportOmissions();
  readonly messages: (Exclude<PastMessage, PastResponse> | (CodexResponse & PastPosition))[] = [];
  /** Sessions of agents by the calls that launched them. */
  readonly launched = new Map<Writable<PastCall>, string>();
  readonly #calls = new Map<string, Writable<PastCall>>();
  /** Status and changes by call id, from events that come before the result of the call. */
  readonly #ends = new Map<string, { readonly status?: string; readonly changes?: readonly FileChange[] }>();
  /** For each file, the byte offset of the end of each line, with the position in the conversation at that point. */
  readonly #stood = new Map<string, { readonly end: number; readonly last: string | null; readonly turns: number }[]>();
  #file = "";
  #provider = "openai";
  #model = "unknown";
  #at = 0;
  #last: string | null = null;
  /** The current response, until another message or a result follows. */
  #response: CodexResponse | undefined;
  /** The position before each user turn on this branch. */
  readonly #turns: (string | null)[] = [];

  /** `upTo`: the byte at which another file continues. */
  async read(file: string, upTo = Number.POSITIVE_INFINITY): Promise<void> {
    const [, session = file, own = session] = NAME.exec(basename(file)) ?? [];
    if (this.#stood.has(own)) return;
    const stood: { readonly end: number; readonly last: string | null; readonly turns: number }[] = [];
    this.#stood.set(own, stood);
    for await (const { line, end, value } of jsonLines(file, this.left)) {
      if (end > upTo) break;
      if (value.type === "session_meta") await this.#goOn(head.safeParse(value.payload).data, dirname(file));
      this.#file = own;
      this.#take(value, line);
      stood.push({ end, last: this.#last, turns: this.#turns.length });
    }
  }

  /** Moves to the position where the file continues, after reading the other file. */
  async #goOn(known: z.infer<typeof head> | undefined, folder: string): Promise<void> {
    const { thread_id: base, end_byte_offset: upTo } = known?.history_base ?? {};
    if (known) this.#began(known);
    if (base === undefined || upTo === undefined) return;
    if (!this.#stood.has(base)) {
      const file = (await codexFiles(base, folder)).find((each) => {
        const [, session, own = session] = NAME.exec(basename(each)) ?? [];
        return own === base;
      });
      if (file === undefined) return this.left.note("the part before it, in a file that is missing");
      await this.read(file, upTo);
    }
    const there = this.#stood.get(base)?.findLast(({ end }) => end <= upTo);
    this.#last = there?.last ?? null;
    this.#turns.length = there?.turns ?? 0;
    this.#response = undefined;
  }

  #take(value: Readonly<Record<string, unknown>>, line: number): void {
    this.#at = Date.parse(String(value.timestamp)) || this.#at;
    this.beganAt ||= this.#at;
    if (value.type === "session_meta") return;
    if (value.type === "turn_context") {
      this.#model = z.looseObject({ model: z.string() }).safeParse(value.payload).data?.model ?? this.#model;
      return;
    }
    const parsed = payload.safeParse({ type: value.type, ...(value.payload as object) });
    if (!parsed.success)
      return this.left.note(`a line in an unknown format: ${parsed.error.issues[0]?.path.join(".")}`, line);
    const read = parsed.data;
    switch (value.type) {
      case "response_item":
        return this.#item(read, line);
      case "event_msg":
        return this.#event(read, line);
      case "compacted":
        return this.#compacted(read, line);
      case "token_usage_record":
        return this.#used(read.usage);
      default:
        if (!NOTES.has(value.type)) this.left.note(`“${String(value.type)}”, which is unknown`, line);
    }
  }

  #began(known: z.infer<typeof head>): void {
    this.version = known.cli_version ?? this.version;
    if (this.id !== undefined) return;
    this.id = known.id;
    this.directory = known.cwd;
    this.#provider = known.model_provider ?? this.#provider;
    this.forkOf = known.forked_from_id ?? undefined;
  }

  #used(counts: z.infer<typeof tokens> | undefined): void {
    const response = this.messages.findLast((message) => message.role === "assistant");
    const usage = codexUsage(counts);
    if (response?.role === "assistant" && usage) response.usage = usage;
    this.#response = undefined;
  }

  #key(line: number): string {
    return `${this.#file} ${line}`;
  }

  #item(read: Payload, line: number): void {
    const id = read.call_id ?? read.id ?? `line ${line}`;
    switch (read.type) {
      case "message":
        return read.role === "assistant"
          ? this.#say(line, ...textPart(codexText(read.content)))
          : this.#heard(read, line);
      case "agent_message": {
        const parts = textPart(codexText(read.content));
        if (parts.length > 0) this.#put({ ...this.#position(line), role: "user", author: "system", parts });
        return;
      }
      case "reasoning": {
        const text = [read.summary, read.content].map(codexText).filter((part) => part !== "");
        if (text.length > 0) this.#say(line, { type: "reasoning", text: text.join("\n\n") });
        return;
      }
      case "function_call":
        return this.#call(line, id, read.name ?? "", parseCodexJson(read.arguments));
      case "custom_tool_call":
        return this.#call(line, id, read.name ?? "", { input: read.input ?? "" });
      case "local_shell_call":
        return this.#call(line, id, "local_shell", (read.action ?? {}) as Json);
      case "web_search_call": {
        this.#call(line, id, "web_search", (read.action ?? {}) as Json);
        return this.#hasEnded(id, "The provider searched the web. The session does not contain the results.", line);
      }
      case "tool_search_call":
        return this.#call(line, id, "tool_search", parseCodexJson(read.arguments));
      case "function_call_output":
      case "custom_tool_call_output":
      case "tool_search_output":
        return this.#hasEnded(
          id,
          codexOutput(read.output, () => this.left.note("a picture in a result", line)),
          line,
        );
      default:
        this.left.note(`an item: “${read.type}”`, line);
    }
  }

  /** Input of the model: a user's message, or the program's description of the environment. */
  #heard(read: Payload, line: number): void {
    const text = codexText(read.content);
    const kinds = read.internal_chat_message_metadata_passthrough?.content_item_kinds;
    const isSaid = kinds ? kinds.some((kind) => kind.startsWith("user.")) : !SURROUNDINGS.test(text);
    if (read.role !== "user" || !isSaid) return;
    const parts = (typeof read.content === "string" ? [{ type: "input_text", text }] : (read.content ?? [])).flatMap(
      (each): readonly UserPart[] => {
        if (each.type === "input_text") return textPart(each.text ?? "");
        const { image_url } = each;
        if (image_url?.startsWith("data:")) return this.left.userFile({ type: "input_image", image_url }, line);
        this.left.note(`a piece of a message: “${each.type}”`, line);
        return [];
      },
    );
    if (parts.length === 0) return;
    this.#turns.push(this.#last);
    this.#put({ ...this.#position(line), role: "user", parts });
  }

  #event(read: Payload, line: number): void {
    switch (read.type) {
      case "token_count":
        return this.#used(read.info?.last_token_usage);
      case "turn_aborted": {
        const last = this.messages.at(-1);
        if (last?.role === "assistant") last.finish = "interrupted";
        return;
      }
      case "thread_rolled_back": {
        const began = this.#turns.splice(-(read.num_turns ?? 1));
        this.#last = began[0] ?? null;
        this.#response = undefined;
        return;
      }
      case "error":
        return this.#failed(read.message ?? undefined, line);
      case "task_complete":
      case "turn_complete":
        if (read.error) this.#failed(read.error.message, line);
        return;
      case "item_completed":
        return this.#did(read.item);
      case "patch_apply_end":
        return this.#did({
          type: "FileChange",
          id: read.call_id ?? "",
          ...(read.changes && { changes: read.changes }),
          status: read.success === false ? "failed" : "completed",
        });
      default:
        if (!AGAIN.test(read.type)) this.left.note(`an event: “${read.type}”`, line);
    }
  }

  #failed(reason: string | undefined, line: number): void {
    // A provider's error message may be JSON.
    const inner = z
      .looseObject({ error: z.looseObject({ message: z.string() }) })
      .safeParse(parseCodexJson(reason)).data;
    const error = inner?.error.message ?? reason ?? "The model could not answer.";
    this.#respond(line, { parts: [], finish: "error", error });
    this.#response = undefined;
  }

  /** Both sides of added and deleted files are known. */
  #did(item: Payload["item"]): void {
    if (!item) return;
    const call = this.#calls.get(item.id);
    if (call && item.type === "SubAgentActivity" && item.agent_thread_id !== undefined)
      this.launched.set(call, item.agent_thread_id);
    const known = Object.entries(item.changes ?? {}).flatMap(([path, { type, content }]) => {
      const file = { path, directory: this.directory };
      if (type === "add") return pastFileChange(file, null, content) ?? [];
      return type === "delete" ? (pastFileChange(file, content, null) ?? []) : [];
    });
    this.#ends.set(item.id, {
      ...(item.status !== undefined && { status: item.status }),
      ...(known.length > 0 && { changes: known }),
    });
  }

  #compacted(read: Payload, line: number): void {
    const before = this.messages.at(-1);
    const text = read.message;
    if (!text) return this.left.note("a summary that only its provider can read", line);
    // The model that wrote the summary also left it as a message.
    const said =
      before?.role === "assistant" && before.key === this.#last && before.parts.length === 1 ? before : undefined;
    const [part] = said?.parts ?? [];
    const isOfIt = said && part?.type === "text" && text.endsWith(part.text);
    if (isOfIt) {
      this.messages.pop();
      this.#last = said.parent;
    }
    if (this.#last === null) return;
    this.#put({
      ...this.#position(line),
      role: "summary",
      text,
      covers: this.#last,
      ...(isOfIt && { usage: said.usage }),
    });
  }

  #position(line: number): PastPosition {
    return { key: this.#key(line), parent: this.#last, at: this.#at };
  }

  #say(line: number, ...parts: CodexResponse["parts"]): void {
    if (parts.length === 0) return;
    if (this.#response) this.#response.parts.push(...parts);
    else this.#response = this.#respond(line, { parts, finish: "stop" });
  }

  #respond(line: number, response: Pick<CodexResponse, "parts" | "finish" | "error">): CodexResponse {
    const model = `${this.#provider}/${this.#model}`;
    const message = { ...this.#position(line), role: "assistant" as const, model, ...response };
    this.#put(message);
    return message;
  }

  #put(message: CodexSessionReader["messages"][number]): void {
    this.messages.push(message);
    this.#last = message.key;
    this.#response = undefined;
  }

  #call(line: number, id: string, tool: string, input: Json): void {
    const call = { type: "call" as const, id, tool, input };
    this.#calls.set(id, call);
    this.#say(line, call);
    if (this.#response) this.#response.finish = "calls";
  }

  #hasEnded(id: string, output: string, line: number): void {
    this.#response = undefined;
    const call = this.#calls.get(id);
    if (!call) return this.left.note("a result without its call", line);
    const { status, changes } = this.#ends.get(id) ?? {};
    call.result = { status: codexCallStatus(status, output), output: output, at: this.#at, changes };
  }
}
