import type { Event } from "../conversation/event.ts";
import { isEvent } from "../conversation/feed-item.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { PromptMessage } from "../ports/model.ts";
import type { Log, Store } from "../ports/store.ts";
import type { LoopDriver } from "../ports/tool.ts";
import type { BackgroundWorkEnd, Effects } from "../ports/tool-values.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { type Scene, scriptedModel } from "../testing/scripted-model.ts";
import { Agent } from "./agent.ts";

/**
 * The time at which an event of each type must survive a power cut: before any reader gets the event, or later. The
 * compiler demands an entry for each new type. docs/durability.md has the same list in words.
 */
export const FLUSHED = {
  "conversation.created": "when it is heard of",
  "conversation.brought-in": "when it is heard of",
  "content.stored": "when it is heard of",
  "message.added": "when it is heard of",
  "run.started": "when it is heard of",
  "goal.checked": "when it is heard of",
  "run.paused": "when it is heard of",
  "run.continued": "when it is heard of",
  "run.ended": "when it is heard of",
  "input.queued": "when it is heard of",
  "input.edited": "when it is heard of",
  "input.withdrawn": "when it is heard of",
  "input.delivered": "when it is heard of",
  "call.approval-resolved": "when it is heard of",
  "call.completed": "when it is heard of",
  "call.failed": "when it is heard of",
  "call.denied": "later",
  "call.cancelled": "when it is heard of",
  "call.followed": "when it is heard of",
  "file.changed": "when it is heard of",
  "process.started": "when it is heard of",
  "process.ended": "when it is heard of",
  "question.asked": "when it is heard of",
  "question.answered": "when it is heard of",
  "memory.dismissed": "when it is heard of",
  "message.labelled": "when it is heard of",
  "message.starred": "when it is heard of",
  "message.removed": "when it is heard of",
  "message.restored": "when it is heard of",
  "title.changed": "when it is heard of",
  "model.changed": "when it is heard of",
  "rule.revoked": "when it is heard of",
  // These are flushed with later events: the result of a call, or the end of the run.
  "message.started": "later",
  "message.checkpoint": "later",
  "message.completed": "later",
  "message.abandoned": "later",
  "memory.recalled": "later",
  "usage.counted": "later",
  "call.pending": "later",
  "call.approval-requested": "later",
  "call.executing": "later",
  "call.following": "later",
} as const satisfies Record<Event["type"], "when it is heard of" | "later">;

/** Effects and promises that the outside world has seen, which a power cut does not undo. */
interface Seen {
  /** Number of effects begun, by the call's key. */
  readonly starts: ReadonlyMap<string, number>;
  /** Results that the model got, by call. */
  readonly told: ReadonlyMap<string, string>;
  /** Confirmations that users got, as checks of a state. */
  readonly promises: readonly Promised[];
}

export type Promised = (session: Session) => string | undefined;

/** The events on the disk after a power cut. */
interface Cut extends Seen {
  readonly when: string;
  readonly events: readonly Event[];
}

/** A disk that keeps all flushed events, and an arbitrary part of the unflushed ones. */
export class Disk {
  readonly events: Event[];
  flushed: number;

  constructor(events: readonly Event[] = []) {
    this.events = [...events];
    this.flushed = events.length;
  }

  /** Events that no flush has saved yet. */
  get unflushed(): readonly Event[] {
    return this.events.slice(this.flushed);
  }

  store(appended: () => void = () => {}): Store {
    const { events } = this;
    const open = async (): Promise<Log> => ({
      epoch: (events.at(-1)?.epoch ?? 0) + 1,
      get seq() {
        return events.length;
      },
      read: async function* (after = 0) {
        yield structuredClone(events.slice(after));
      },
      append: async (added, options) => {
        await new Promise(setImmediate);
        events.push(...structuredClone(added));
        if (options?.durable) this.flushed = events.length;
        appended();
      },
      close: async () => {},
    });
    const nobody = () => Promise.reject(new Error("Nobody asks this in the test."));
    return { open, view: nobody, list: nobody, search: nobody, remove: nobody, close: async () => {} };
  }
}

/** A conversation with all kinds of events, and its visible effects. */
export class World {
  readonly disk: Disk;
  readonly cuts: Cut[] = [];
  readonly problems: string[] = [];
  readonly heard = new Set<Event["type"]>();
  readonly starts: Map<string, number>;
  readonly told: Map<string, string>;
  readonly promises: Promised[];
  #answered = 0;

  constructor(disk: Disk, seen?: Seen) {
    this.disk = disk;
    this.starts = new Map(seen?.starts);
    this.told = new Map(seen?.told);
    this.promises = [...(seen?.promises ?? [])];
  }

  async open(): Promise<Session> {
    const session = await Session.open(
      this.disk.store(() => this.#cut("an append")),
      "conversation",
    );
    session.listen({
      items: (items) => {
        for (const item of items) if (isEvent(item)) this.#hear(item);
      },
      ended: () => {},
    });
    return session;
  }

  agent(scenes: (isSubAgent: boolean) => Scene, loop?: LoopDriver): Agent {
    const tool = (name: string, effects: Effects) =>
      defineTool({
        name,
        description: name,
        input: { type: "object" },
        effects,
        execute: (_, { key, attempt }) => {
          if (effects === "none") return `${name} done`;
          this.mustBeFlushed(`the effect of ${name} begins`, ["message.started"]);
          const start = effects === "external" ? key : `${key} #${attempt}`;
          this.starts.set(start, (this.starts.get(start) ?? 0) + 1);
          this.#cut(`the effect of ${name}`);
          return `${name} done`;
        },
      });
    const listen = defineTool({
      name: "listen",
      description: "Listens, as an edit does.",
      input: { type: "object" },
      effects: "none",
      execute: (_, { follow, changed }) => {
        const completed = async () => {
          this.mustBeFlushed("a listener does its work", ["message.started"]);
          await changed({ path: "a.txt", kind: "changed", before: "1", after: "2", added: 1, removed: 1, diff: "" });
          return { say: "Applied." };
        };
        follow({ completed, dropped: (reason) => `Not applied: ${reason}` });
        return "Listening.";
      },
    });
    const inquire = defineTool({
      name: "inquire",
      description: "Asks a person.",
      input: { type: "object" },
      effects: "idempotent",
      execute: (_, { ask }) => ask({ text: "Which?" }),
    });
    const shorten = defineTool({
      name: "shorten",
      description: "Sums up.",
      input: { type: "object" },
      effects: "none",
      execute: (_, { summarize }) => summarize("It rained."),
    });
    const serve = defineTool({
      name: "serve",
      description: "Starts what stays.",
      input: { type: "object" },
      effects: "idempotent",
      execute: (_, { stay }) => {
        const { promise, resolve } = Promise.withResolvers<BackgroundWorkEnd>();
        return stay({ title: "a server", over: promise, end: () => resolve({ outcome: "it was stopped" }) });
      },
    });
    const launch = defineTool({
      name: "launch",
      description: "Launches.",
      input: { type: "object" },
      effects: "external",
      execute: async (_, context) => (await context.launch({ task: "Look around" })).text,
    });
    const model = scriptedModel(({ messages, tools }) => {
      // Abandoned messages and messages of the engine may still be unflushed.
      this.mustBeFlushed("the model is asked", ["message.started", "message.abandoned", "memory.recalled"]);
      this.#tell(messages);
      this.#cut("the model is asked");
      return scenes(tools.some(({ name }) => name === "finish_task"));
    });
    return new Agent({
      model: loop ?? model,
      tools: [
        tool("look", "none"),
        tool("put", "idempotent"),
        tool("send", "external"),
        listen,
        inquire,
        shorten,
        serve,
        launch,
      ],
      permission: ({ tool: { name }, input }) => ({
        decision: name === "send" && (input as { ask?: boolean }).ask ? "ask" : "allow",
      }),
      retry: { attempts: 2, delay: 1 },
      limits: { steps: 6, policy: "ask" },
      memory: { store: { recall: async () => [{ text: "It rains.", source: "a note" }], remember: async () => {} } },
    });
  }

  /** Carries out a user's request. Once it is confirmed, `kept` must find its effect in every later state. */
  async promise(what: string, work: Promise<unknown>, kept: Promised): Promise<void> {
    await work;
    this.mustBeFlushed(`somebody is told that ${what}`, LATER);
    this.promises.push((session) => {
      const problem = kept(session);
      return problem === undefined ? undefined : `${what}, and then: ${problem}`;
    });
    this.#cut(what);
  }

  /** Allows the first call that asks, and denies all others. Both decisions must be permanent. */
  answer(session: Session, question: string, call: string): Promise<void> {
    const isFirst = !this.heard.has("call.approval-resolved") && !this.#answered++;
    const pattern = "send";
    const work = isFirst
      ? session.answer(question, { decision: "allow", remember: { pattern, scope: "conversation" } })
      : session.answer(question, { decision: "deny", reason: "No." });
    return this.promise(`call ${call} is ${isFirst ? "allowed" : "denied"}`, work, ({ state }) => {
      const calls = [...state.messages.values()].flatMap((m) => (m.role === "assistant" ? m.calls : []));
      const status = calls.find(({ id }) => id === call)?.status;
      return isFirst || status === "denied" ? undefined : `it is ${status}`;
    });
  }

  /** Returns the faults of a conversation that continues after a power cut. */
  check(session: Session): string[] {
    const results = new Map<string, string>();
    for (const message of session.state.messages.values()) {
      if (message.role !== "assistant") continue;
      for (const { id, output } of message.calls) if (output !== undefined) results.set(`${message.id} ${id}`, output);
    }
    const known = [...results].map(([key, output]) => [key.split(" ")[1] as string, output] as const);
    return [
      ...this.problems,
      ...checkConversation(session.state, this.disk.events),
      ...[...this.starts]
        .filter(([, times]) => times > 1)
        .map(([key, times]) => `${key} had its effect ${times} times.`),
      ...[...this.told]
        .filter(([id, output]) => !known.some(([call, result]) => call === id && result === output))
        .map(([id, output]) => `The model was told "${output}" of ${id}, which nobody knows any more.`),
      ...this.promises.flatMap((promise) => promise(session) ?? []),
    ];
  }

  #hear(event: Event): void {
    this.heard.add(event.type);
    const bySystem = event.type === "message.added" && event.author === "system";
    if (bySystem || FLUSHED[event.type] === "later" || event.seq <= this.disk.flushed) return;
    this.problems.push(`${event.type} (${event.seq}) was heard of, and a power cut would take it back.`);
  }

  /** Only events of the types `but` may be unflushed when an irreversible effect happens. */
  mustBeFlushed(when: string, but: readonly Event["type"][]): void {
    const lost = this.disk.unflushed.filter((event) => {
      const bySystem = event.type === "message.added" && event.author === "system";
      return !bySystem && !but.includes(event.type);
    });
    if (lost.length > 0) this.problems.push(`When ${when}, not flushed: ${lost.map(({ type }) => type).join(", ")}.`);
  }

  #tell(messages: readonly PromptMessage[]): void {
    for (const message of messages) {
      if (message.role !== "assistant") continue;
      for (const { call, output } of message.results) this.told.set(call, String(output));
    }
  }

  #cut(when: string): void {
    const { events, flushed } = this.disk;
    const seen = { starts: new Map(this.starts), told: new Map(this.told), promises: [...this.promises] };
    // Either nothing unflushed is left, or half of it.
    for (const kept of new Set([flushed, Math.ceil((flushed + events.length) / 2)])) {
      this.cuts.push({ when, events: structuredClone(events.slice(0, kept)), ...seen });
    }
  }
}

const LATER = (Object.keys(FLUSHED) as Event["type"][]).filter((type) => FLUSHED[type] === "later");
