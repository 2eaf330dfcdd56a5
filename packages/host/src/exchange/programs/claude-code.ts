import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Finish, Json, UserPart } from "@banyan/core/conversation";
import { z } from "zod";
import {
  type ClaudeBlock,
  type ClaudeLine,
  claudeCallStatus,
  claudeText,
  claudeUsage,
  content,
  FINISHES,
  node,
} from "./claude-lines.ts";
import { ImportOmissions, jsonLines } from "./json-lines.ts";
import {
  type PastCall,
  type PastMessage,
  type PastPosition,
  type PastResponse,
  type PastResult,
  type PastSession,
  pastFileChange,
  textPart,
} from "./past-session.ts";

// A session is a file `<session>.jsonl`. Lines with a `uuid` form a tree. Each block of a response is one line. Tool
// results are user lines. Sub-agents have their own files in `<session>/subagents`.

/** The program's own notes. */
const NOTES = new Set([
  "file-history-snapshot",
  "queue-operation",
  "last-prompt",
  "permission-mode",
  "mode",
  "progress",
]);

/** Reads a session of Claude Code from a file in `~/.claude/projects` and the files of its sub-agents. */
export async function readClaudeCode(file: string): Promise<PastSession> {
  const left = new ImportOmissions();
  const main = new ClaudeSessionReader(left);
  await main.read(file);
  const folder = join(dirname(file), basename(file, ".jsonl"), "subagents");
  const agents = new Map<string, ClaudeSessionReader>(main.sidechains);
  for (const name of await readdir(folder).catch(() => [])) {
    const [, id] = /^agent-(.+)\.jsonl$/.exec(name) ?? [];
    if (id === undefined) continue;
    const reading = new ClaudeSessionReader(left, true);
    await reading.read(join(folder, name));
    agents.set(id, reading);
  }
  const messages = main.told(agents);
  if (agents.size > 0) left.note("the work of agents that no known call launched");
  const { cwd: directory, version, forkOf, title, beganAt } = main;
  const id = basename(file, ".jsonl");
  return { program: "claude-code", version, id, directory, title, beganAt, forkOf, messages, left: left.told };
}

type ClaudeContent = z.infer<typeof content>;
type WithoutReadonly<T> = { -readonly [K in keyof T]: T[K] };
type ClaudeResponse = WithoutReadonly<PastResponse> & { parts: PastResponse["parts"][number][] };
type ClaudeUserMessage = Exclude<PastMessage, PastResponse>;
type OpenMessage = ClaudeUserMessage | (ClaudeResponse & PastPosition);

class ClaudeSessionReader {
  cwd: string | undefined;
  version: string | undefined;
  forkOf: string | undefined;
  title: string | undefined;
  beganAt = 0;
  /** Older versions wrote agents' lines into the session's file. */
  readonly sidechains = new Map<string, ClaudeSessionReader>();
  readonly #left: ImportOmissions;
  readonly #isAgent: boolean;
  readonly #messages = new Map<string, OpenMessage>();
  /** For each line id: the message below which the children of the line come. */
  readonly #positions = new Map<string, string | null>();
  /** The responses by the provider's ids. */
  readonly #responses = new Map<string, ClaudeResponse & PastPosition>();
  readonly #calls = new Map<string, WithoutReadonly<PastCall>>();
  /** For each call id: the key of the message that contains the call. */
  readonly #asking = new Map<string, string>();
  /** The agents that calls launched, by call id, according to the results of the calls. */
  readonly #launched = new Map<string, string>();
  readonly #commands = new Set<string>();
  /** The first message that the next summary leaves uncompacted. */
  #kept: string | null | undefined;
  #last: string | null = null;
  #model = "anthropic/unknown";
  #at = 0;

  constructor(left: ImportOmissions, isAgent = false) {
    this.#left = left;
    this.#isAgent = isAgent;
  }

  async read(file: string): Promise<void> {
    for await (const { line, value } of jsonLines(file, this.#left)) {
      if (typeof value.customTitle === "string") this.title = value.customTitle;
      else if (typeof value.aiTitle === "string") this.title ??= value.aiTitle;
      if (typeof value.uuid !== "string") continue;
      const parsed = node.safeParse(value);
      if (parsed.success) this.#take(parsed.data, line);
      else this.#left.note(`a line in an unknown format: ${parsed.error.issues[0]?.path.join(".")}`, line);
    }
  }

  #take(read: ClaudeLine, line: number): void {
    if (read.isSidechain && !this.#isAgent) {
      const id = read.agentId ?? "";
      const chain = this.sidechains.get(id) ?? new ClaudeSessionReader(this.#left, true);
      this.sidechains.set(id, chain);
      return chain.#take(read, line);
    }
    this.cwd ??= read.cwd;
    this.version = read.version ?? this.version;
    this.forkOf ??= read.forkedFrom?.sessionId;
    this.#at = Date.parse(read.timestamp ?? "") || this.#at;
    this.beganAt ||= this.#at;
    const parent = this.#parentOf(read, line);
    this.#positions.set(read.uuid, this.#message(read, parent, line));
    this.#last = this.#positions.get(read.uuid) ?? null;
  }

  #parentOf({ parentUuid, logicalParentUuid }: ClaudeLine, line: number): string | null {
    const named = parentUuid ?? logicalParentUuid;
    if (named === null || named === undefined) return null;
    const position = this.#positions.get(named);
    if (position !== undefined) return position;
    this.#left.note("earlier messages are missing, so this message follows the last message before the gap", line);
    return this.#last;
  }

  /** Returns the message that the next line follows. */
  #message(read: ClaudeLine, parent: string | null, line: number): string | null {
    const { message, attachment, uuid: key } = read;
    if (read.type === "assistant" && message) return this.#response(read, message, parent, line);
    if (read.type === "user" && message) return this.#said(read, message.content, parent, line);
    if (attachment?.type === "queued_command" && attachment.prompt !== undefined)
      return this.#put(
        { key, parent, at: this.#at, role: "user", parts: this.#userParts(attachment.prompt, line) },
        line,
      );
    if (attachment?.type === "file") return this.#attached(attachment, { key, parent, at: this.#at }, line);
    if (read.subtype === "compact_boundary") {
      const head = read.compactMetadata?.preservedSegment?.headUuid;
      this.#kept = head === undefined ? undefined : this.#positions.get(head);
    }
    if (read.type !== "system" && read.type !== "attachment" && !NOTES.has(read.type))
      this.#left.note(`“${read.type}”, which is unknown`, line);
    return parent;
  }

  #response(
    read: ClaudeLine,
    message: NonNullable<ClaudeLine["message"]>,
    parent: string | null,
    line: number,
  ): string | null {
    const words = typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
    if (read.isApiErrorMessage) {
      const error = claudeText(words) || "The model could not answer.";
      const failed = { key: read.uuid, parent, at: this.#at, role: "assistant" as const };
      return this.#put({ ...failed, parts: [], finish: "error", model: this.#model, error }, line);
    }
    // Such as the answer to the program's own message after a restart.
    if (message.model === "<synthetic>") return this.#without(parent, (before) => before.author === "system");
    if (message.model !== undefined) this.#model = `anthropic/${message.model}`;
    const known = this.#responses.get(message.id ?? "");
    const response = known ?? {
      key: read.uuid,
      parent,
      at: this.#at,
      role: "assistant" as const,
      parts: [],
      finish: "stop" as Finish,
      model: this.#model,
    };
    response.parts.push(...words.flatMap((each) => this.#part(each, response.key, line)));
    response.usage = claudeUsage(message.usage) ?? response.usage;
    const asks = response.parts.some(({ type }) => type === "call");
    response.finish = FINISHES[message.stop_reason ?? ""] ?? (asks ? "calls" : "stop");
    if (known) return known.key;
    if (message.id !== undefined) this.#responses.set(message.id, response);
    return this.#put(response, line);
  }

  #part(read: ClaudeBlock, key: string, line: number): ClaudeResponse["parts"] {
    switch (read.type) {
      case "text":
        return textPart(String(read.text ?? ""));
      case "thinking":
        return typeof read.thinking === "string" && read.thinking !== ""
          ? [{ type: "reasoning", text: read.thinking }]
          : [];
      case "redacted_thinking":
        return [];
      case "tool_use": {
        const { id, name: tool, input } = read;
        const call = { type: "call" as const, id: String(id), tool: String(tool), input: (input ?? {}) as Json };
        this.#calls.set(call.id, call);
        this.#asking.set(call.id, key);
        return [call];
      }
      default:
        this.#left.note(`a piece of a response: “${read.type}”`, line);
        return [];
    }
  }

  /** A user line: a message, tool results, or both. */
  #said(read: ClaudeLine, said: ClaudeContent, parent: string | null, line: number): string | null {
    const { uuid: key, isMeta, isCompactSummary } = read;
    const at = this.#at;
    const blocks = typeof said === "string" ? [] : said;
    let position = parent;
    for (const each of blocks) if (each.type === "tool_result") position = this.#result(each, read, line) ?? position;
    const words = typeof said === "string" ? said : blocks.filter(({ type }) => type !== "tool_result");
    if (isCompactSummary && position !== null) {
      const covers = this.#messages.get(this.#kept ?? "")?.parent ?? position;
      return this.#put({ key, parent: position, at, role: "summary", text: claudeText(words), covers }, line);
    }
    const parts = this.#userParts(words, line);
    const text = claudeText(words);
    if (/^\[Request interrupted by user[^\]]*\]$/.test(text.trim())) return this.#interrupted(position);
    if (parts.length === 0) return position;
    // The model must not see slash commands and their output.
    if (text.startsWith("<local-command-caveat>")) return position;
    if (text.startsWith("<local-command-stdout>")) return this.#without(position, ({ key }) => this.#commands.has(key));
    const [, name, given = ""] =
      /<command-name>(.*?)<\/command-name>.*?(?:<command-args>(.*?)<\/command-args>)?\s*$/s.exec(text) ?? [];
    if (name !== undefined) {
      this.#commands.add(key);
      return this.#put({ key, parent: position, at, role: "user", parts: textPart(`${name} ${given}`.trim()) }, line);
    }
    return this.#put({ key, parent: position, at, role: "user", author: isMeta ? "system" : "user", parts }, line);
  }

  /** Removes the user message at `position` if `isNone` matches. Returns the message that the next line follows. */
  #without(
    position: string | null,
    isNone: (message: Extract<ClaudeUserMessage, { readonly role: "user" }>) => boolean,
  ): string | null {
    const message = this.#messages.get(position ?? "");
    if (position === null || message?.role !== "user" || !isNone(message)) return position;
    this.#messages.delete(position);
    return message.parent;
  }

  #attached(
    { filename = "file", content: held }: NonNullable<ClaudeLine["attachment"]>,
    position: PastPosition,
    line: number,
  ): string | null {
    const message = this.#messages.get(position.parent ?? "");
    const text = held?.file?.content;
    if (text === undefined) {
      this.#left.note("a file attached to a message", line);
      return position.parent;
    }
    const part = { type: "text", text: `<file name=${JSON.stringify(filename)}>\n${text}\n</file>` } as const;
    if (message?.role !== "user")
      return this.#put({ ...position, role: "user", author: "system", parts: [part] }, line);
    this.#messages.set(message.key, { ...message, parts: [...message.parts, part] });
    return message.key;
  }

  #interrupted(position: string | null): string | null {
    const message = this.#messages.get(position ?? "");
    if (message?.role === "assistant") message.finish = "interrupted";
    return position;
  }

  #userParts(said: ClaudeContent, line: number): UserPart[] {
    if (typeof said === "string") return textPart(said);
    return said.flatMap((each): readonly UserPart[] => {
      if (each.type === "text") return textPart(String(each.text ?? ""));
      const source = z
        .object({ type: z.literal("base64"), media_type: z.string(), data: z.string() })
        .safeParse(each.source).data;
      if (source) return this.#left.userFile({ type: "image", source }, line);
      this.#left.note(`a piece of a message: “${each.type}”`, line);
      return [];
    });
  }

  /** Returns the message with the result's call. */
  #result(read: ClaudeBlock, { toolUseResult }: ClaudeLine, line: number): string | undefined {
    const id = String(read.tool_use_id);
    const call = this.#calls.get(id);
    if (!call) {
      this.#left.note("a result without its call", line);
      return undefined;
    }
    const output = content.safeParse(read.content ?? "").data ?? "";
    if (Array.isArray(output) && output.some(({ type }) => type !== "text"))
      this.#left.note("a picture in a result, or something else that is no text", line);
    const details = z.looseObject({ agentId: z.string().optional() }).safeParse(toolUseResult).data;
    if (details?.agentId !== undefined) this.#launched.set(id, details.agentId);
    call.result = {
      status: read.is_error === true ? claudeCallStatus(claudeText(output), toolUseResult) : "completed",
      output: claudeText(output),
      at: this.#at,
      changes: this.#changes(details),
    };
    return this.#asking.get(id);
  }

  #changes(details: unknown): PastResult["changes"] {
    const edit = z
      .looseObject({
        filePath: z.string(),
        originalFile: z.string().nullable(),
        content: z.string().optional(),
        oldString: z.string().optional(),
        newString: z.string().optional(),
        replaceAll: z.boolean().optional(),
      })
      .safeParse(details).data;
    if (!edit) return undefined;
    const { originalFile: before, oldString = "", newString = "", replaceAll } = edit;
    const edited = replaceAll
      ? before?.replaceAll(oldString, () => newString)
      : before?.replace(oldString, () => newString);
    return pastFileChange({ path: edit.filePath, directory: this.cwd }, before, edit.content ?? edited);
  }

  #put(message: OpenMessage, line: number): string | null {
    if (this.#messages.has(message.key)) {
      this.#left.note("a message that is there twice", line);
      return message.key;
    }
    if ("parts" in message && message.role === "user" && message.parts.length === 0) return message.parent;
    this.#messages.set(message.key, message);
    return message.key;
  }

  /** Returns the messages, with launched agents inside their calls. Removes these agents from `agents`. */
  told(agents: Map<string, ClaudeSessionReader>): PastMessage[] {
    for (const call of this.#calls.values()) {
      const id = this.#launched.get(call.id) ?? agents.entries().find(([, agent]) => agent.#isFor(call))?.[0];
      const agent = id === undefined ? undefined : agents.get(id);
      if (id === undefined || !agent) continue;
      agents.delete(id);
      const { subagent_type: name } = call.input as { readonly subagent_type?: Json };
      call.agent = { name: typeof name === "string" ? name : "agent", messages: agent.told(agents) };
    }
    return [...this.#messages.values()];
  }

  /** The agent's first message is the prompt of the call that launched it. */
  #isFor({ input }: PastCall): boolean {
    const { prompt } = input as { readonly prompt?: Json };
    const [first] = this.#messages.values();
    return (
      first?.role === "user" &&
      typeof prompt === "string" &&
      first.parts.some((part) => part.type === "text" && part.text === prompt)
    );
  }
}
