import { createHash } from "node:crypto";
import type { About, Event, EventBody, Json } from "@banyan/core/conversation";
import { createId, noUsage } from "@banyan/core/conversation";
import { isJsonRecord } from "@banyan/core/shown";
import type { Redact } from "../../redaction/redactor.ts";
import type { ReadConversation } from "../json.ts";
import { type PastCall, type PastMessage, type PastResponse, type PastSession, PROGRAMS } from "./past-session.ts";

/**
 * The label of an imported conversation. Its value is `sessionSource`.
 * @example const imported = (await store.list()).filter(({ labels }) => SOURCE in labels);
 */
export const SOURCE = "source";

/**
 * Returns the program and id of a session, as a label's value.
 * @example sessionSource({ program: "codex", id: "7" }) // "codex:7"
 */
export function sessionSource({ program, id }: Pick<PastSession, "program" | "id">): string {
  return `${program}:${id}`;
}

/**
 * Converts a session of another program to a conversation's log, without secrets (S10). All ids are new except for
 * those of calls. Omits provider data such as reasoning signatures, which another account may refuse.
 * @example
 * const redact = redactor({ env: process.env });
 * for (const found of await sessionsIn("session.jsonl", redact)) {
 *   const { id, events } = conversationOf(await readSession(found), redact);
 *   await writeFile(`${id}.json`, toJson(events));
 * }
 */
export function conversationOf(session: PastSession, redact: Redact): ReadConversation {
  const id = createId();
  const { directory, beganAt, forkOf, title } = session;
  const log = new EventBuilder(session, redact);
  const labels: Record<string, string> = { agent: PROGRAMS[session.program], [SOURCE]: sessionSource(session) };
  if (directory !== undefined) labels.cwd = directory;
  if (session.version !== undefined) labels.version = session.version;
  if (forkOf !== undefined) labels.forkOf = sessionSource({ ...session, id: forkOf });
  log.say(beganAt, { type: "conversation.created", id, labels });
  const ids = log.branch(session.messages, PROGRAMS[session.program]);
  const takenBack = ids.get(session.takenBack ?? "");
  if (takenBack !== undefined) log.say(undefined, { type: "message.removed", message: takenBack });
  if (title !== undefined) log.say(undefined, { type: "title.changed", title: redact(title) });
  return { id, events: log.events };
}

type Run = { readonly id: string; leaf: string; end: Pick<PastResponse, "finish" | "error"> };

class EventBuilder {
  readonly events: Event[] = [];
  readonly #redact: Redact;
  /** A placeholder for the program's instructions and tools, which its sessions do not contain. */
  readonly #untold: { readonly digest: string; readonly text: string };
  readonly #calls = new Set<string>();
  #hasUntold = false;
  #at = 0;

  constructor({ program, version }: PastSession, redact: Redact) {
    this.#redact = redact;
    const text = `The instructions and tools of ${PROGRAMS[program]}${version === undefined ? "" : ` ${version}`} were not imported.`;
    this.#untold = { digest: createHash("sha256").update(text).digest("hex"), text };
  }

  /** Without a time, an event gets the time of the event before. */
  say(at: number | undefined, body: EventBody): void {
    this.#at = at ?? this.#at;
    this.events.push({ ...body, seq: this.events.length + 1, epoch: 1, at: this.#at });
  }

  /** Adds the messages of one agent on all of its branches. Returns the new message ids by key. */
  branch(messages: readonly PastMessage[], agent: string, call?: string): ReadonlyMap<string, string> {
    const ids = new Map<string, string>();
    let run: Run | undefined;
    const end = () => {
      if (run) this.#ended(run);
      run = undefined;
    };
    for (const message of messages) {
      const id = createId();
      const parentId = message.parent === null ? null : (ids.get(message.parent) ?? null);
      const first = parentId === null && call !== undefined ? { call } : {};
      ids.set(message.key, id);
      const label = () => {
        if (message.label !== undefined)
          this.say(undefined, { type: "message.labelled", message: id, label: this.#redact(message.label) });
      };
      if (message.role !== "assistant") {
        end();
        this.#added(message, { message: id, parentId, ...first }, ids);
        label();
        continue;
      }
      if (run?.leaf !== parentId) {
        end();
        run = this.#began(message, { agent, leaf: parentId, ...(call !== undefined && { call }) });
      }
      run = { ...run, leaf: id, end: message };
      this.#responded(message, { message: id, parentId, run: run.id });
      label();
      if (message.finish !== "calls") end();
    }
    end();
    return ids;
  }

  #added(
    message: Exclude<PastMessage, { readonly role: "assistant" }>,
    place: { readonly message: string; readonly parentId: string | null; readonly call?: string },
    ids: ReadonlyMap<string, string>,
  ): void {
    if (message.role === "user") {
      const { at, author = "user" } = message;
      const parts = message.parts.map((part) =>
        part.type === "text" ? { ...part, text: this.#redact(part.text) } : part,
      );
      return this.say(at, { type: "message.added", ...place, role: "user", author, parts });
    }
    const covers = ids.get(message.covers);
    this.say(message.at, {
      type: "message.added",
      ...place,
      role: "summary",
      parts: [{ type: "text", text: this.#redact(message.text) }],
      ...(covers !== undefined && { covers }),
      ...(message.usage && { usage: message.usage }),
    });
  }

  #began(
    { at, model }: { readonly at: number; readonly model: string },
    place: { readonly agent: string; readonly leaf: string | null; readonly call?: string },
  ): Run {
    const id = createId();
    const { digest, text } = this.#untold;
    if (!this.#hasUntold) this.say(at, { type: "content.stored", digest, text });
    this.#hasUntold = true;
    const untold = { settings: {}, limits: {}, instructions: digest, tools: digest };
    this.say(at, { type: "run.started", run: id, model, mode: "chat", ...untold, ...place });
    return { id, leaf: place.leaf ?? "", end: { finish: "stop" } };
  }

  #ended({ id: run, leaf, end: { finish, error } }: Run): void {
    const ended = { type: "run.ended", run, leaf } as const;
    if (finish === "error")
      return this.say(undefined, {
        ...ended,
        reason: "failed",
        error: { code: "unknown", message: this.#redact(error ?? "The response was incomplete.") },
      });
    // The user left a session that ends with a call.
    this.say(undefined, {
      ...ended,
      reason: finish === "interrupted" || finish === "calls" ? "interrupted" : "answered",
    });
  }

  #responded(
    { at, model, parts, finish, usage = noUsage, cost, error }: PastResponse & { readonly at: number },
    { message, parentId, run }: { readonly message: string; readonly parentId: string | null; readonly run: string },
  ): void {
    this.say(at, { type: "message.started", message, parentId, run, model });
    const calls: PastCall[] = [];
    const converted = parts.map((part) => {
      if (part.type !== "call") return "text" in part ? { ...part, text: this.#redact(part.text) } : part;
      const call = { ...part, id: this.#callId(part.id), input: this.#redacted(part.input) };
      calls.push(call);
      return { type: "call" as const, call: call.id };
    });
    for (const { id: call, tool, input } of calls) {
      const about = aboutForeignCall(input);
      const inputText = JSON.stringify(input);
      this.say(at, { type: "call.pending", message, call, tool, inputText, input, ...(about && { about }) });
    }
    const ending = {
      finish,
      usage,
      ...(cost !== undefined && { cost }),
      ...(error !== undefined && { error: this.#redact(error) }),
    };
    this.say(at, { type: "message.completed", message, parts: converted, ...ending });
    for (const call of calls) this.#carriedOut(message, call);
  }

  #carriedOut(message: string, { id: call, tool, input, result, agent }: PastCall): void {
    const didRun = result?.status !== "denied" && result?.status !== "not-run";
    if (didRun && (result || agent))
      this.say(undefined, { type: "call.executing", message, call, tool, attempt: 1, key: call });
    if (agent) this.branch(agent.messages, agent.name, call);
    if (!result) return;
    for (const change of result.changes ?? [])
      this.say(result.at, { type: "file.changed", message, call, ...change, diff: this.#redact(change.diff) });
    const output = this.#redact(result.output);
    const ended = result.status === "not-run" ? "failed" : result.status;
    this.say(result.at, { type: `call.${ended}`, message, call, tool, input, output });
  }

  /** After a fork, a session may have a call twice. */
  #callId(id: string): string {
    const own = id === "" || id.length > 512 || this.#calls.has(id) ? createId() : id;
    this.#calls.add(own);
    return own;
  }

  #redacted(input: Json): Json {
    const text = JSON.stringify(input);
    const redacted = this.#redact(text);
    if (redacted === text) return input;
    try {
      return JSON.parse(redacted);
    } catch {
      // Redaction removed a quote and broke the JSON.
      return { input: redacted };
    }
  }
}

/** Derives a call's subject from common argument names, for display only. */
function aboutForeignCall(input: Json): About | undefined {
  const value: unknown = input;
  if (!isJsonRecord<Readonly<Record<string, Json>>>(value)) return undefined;
  const first = (...names: readonly string[]) => names.find((name) => typeof value[name] === "string");
  const textAt = (name: string | undefined) => (name === undefined ? undefined : (value[name] as string));
  const words = value.command ?? value.cmd;
  const command = Array.isArray(words) ? words.join(" ") : words;
  const path = textAt(first("file_path", "filePath", "path"));
  const goes = first("old_string", "oldString", "oldText");
  const comes = first("new_string", "newString", "newText", "content");
  const url = textAt(first("url"));
  const title = textAt(first("description", "pattern", "query"));
  const access = comes === undefined && value.edits === undefined ? "read" : "write";
  return {
    ...(typeof command === "string" ? { command } : title !== undefined && { title }),
    ...(path !== undefined && { paths: [{ path, access }] }),
    ...(path !== undefined && comes !== undefined && { change: { comes, ...(goes !== undefined && { goes }) } }),
    ...(url !== undefined && { url }),
  };
}
