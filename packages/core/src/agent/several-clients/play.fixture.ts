import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import type { Cursor, FeedItem } from "../../conversation/feed-item.ts";
import { type Message, textOf } from "../../conversation/message.ts";
import type { ConversationState } from "../../conversation/state.ts";
import { reduce } from "../../conversation/tree/reduce.ts";
import type { Session } from "../../session/session.ts";
import { resume, retry, say } from "../directive.ts";
import { type ExpectedRun, ExpectedTree, type Node, type Waiting } from "./expected-tree.fixture.ts";
import { Puppet } from "./puppet.fixture.ts";

/** Commands by name, each with numbers that choose its object and variant. */
export const notes = [
  "steer",
  "queue",
  "rewrite",
  "move",
  "deliver differently",
  "send to",
  "withdraw",
  "label",
  "star",
  "remove",
  "restore",
] as const;
export const progress = [
  "say",
  "say",
  "retry",
  "resume",
  "go on",
  "go on",
  "go on",
  "go on",
  "interrupt",
  "interject",
] as const;
export type Command<Name> = { readonly name: Name; readonly what: number; readonly how: number };

/** A client with a copy of the state, which follows the feed from its cursor, now or later. */
interface Reader {
  readonly state: ConversationState;
  readonly cursor: Cursor;
  /** Settles when the feed ends. */
  following: Promise<void> | undefined;
}

/** A real session, and the expected tree of its conversation. */
export class Play {
  readonly session: Session;
  readonly expected = new ExpectedTree();
  readonly puppets: Puppet[] = [];
  readonly #pending: Promise<unknown>[] = [];
  readonly #readers: Reader[] = [];
  /** Real ids of the expected messages and runs. */
  readonly #messages = new Map<Node, string>();
  readonly #runs = new Map<ExpectedRun, string>();
  #texts = 0;

  constructor(session: Session) {
    this.session = session;
  }

  note({ name, what, how }: Command<(typeof notes)[number]>): void {
    const { session, expected } = this;
    const text = pick(expected.inbox, what);
    const node = pick(expected.nodes, what);
    // Leaves runs with a waiting chat alone, since the order after them is not defined.
    const run = pick([...expected.runs.filter((other) => !expected.queue.has(other)), undefined], how);
    switch (name) {
      case "steer":
      case "queue":
        return this.#write(name, run);
      case "rewrite":
        if (!text) return;
        text.text = this.#newText("rewritten");
        return this.#wait(session.editInput(text.id, { parts: [{ type: "text", text: text.text }] }));
      case "move": {
        if (!text) return;
        const before = pick([...expected.inbox.filter((other) => other !== text), undefined], how) ?? null;
        expected.move(text, before);
        return this.#wait(session.editInput(text.id, { before: before?.id ?? null }));
      }
      case "deliver differently":
        if (!text) return;
        text.delivery = how % 2 === 0 ? "steer" : "queue";
        return this.#wait(session.editInput(text.id, { delivery: text.delivery }));
      case "send to":
        if (!text || !run) return;
        Object.assign(text, { run, held: false } satisfies Partial<Waiting>);
        return this.#wait(session.editInput(text.id, { run: this.#idOf(run) }));
      case "withdraw":
        if (!text) return;
        expected.withdraw(text);
        return this.#wait(session.withdrawInput(text.id));
      case "label":
        if (!node) return;
        node.label = how % 3 === 0 ? undefined : `label ${how}`;
        return this.#wait(session.notes.label(this.#idOf(node), node.label ?? null));
      case "star":
        if (!node) return;
        node.starred = how % 3 !== 0;
        return this.#wait(session.notes.star(this.#idOf(node), node.starred));
      case "remove":
        if (!node) return;
        expected.remove(node);
        return this.#wait(session.notes.remove(this.#idOf(node)));
      case "restore":
        if (!node) return;
        node.removed = false;
        return this.#wait(session.notes.restore(this.#idOf(node)));
    }
  }

  progress({ name, what, how }: Command<(typeof progress)[number]>): void {
    const { expected } = this;
    const run = pick(expected.runs, what);
    const node = pick(expected.nodes, what);
    switch (name) {
      case "say": {
        const at = how % 3 === 0 ? expected.leaf : (node ?? null);
        const other = expected.runs.find(({ leaf }) => leaf === at);
        const isQuiet = !other || !(expected.queue.has(other) || expected.inbox.some((text) => text.run === other));
        if (!isQuiet || (at === null && expected.leaf !== null)) return;
        const text = this.#newText("said");
        expected.say(this.#chat(say(text), at), at, text);
        return;
      }
      case "retry": {
        if (!node || this.#isBusy(node)) return;
        const text = how % 2 === 0 ? undefined : this.#newText("said anew");
        expected.retry(this.#chat(retry(text), node), node, text);
        return;
      }
      case "resume":
        if (!node || this.#isBusy(node) || !expected.canResume(node)) return;
        expected.resume(this.#chat(resume(), node), node);
        return;
      case "go on":
        if (run) this.#goOn(run, how);
        return;
      case "interrupt":
        if (!run) return;
        this.session.interrupt(this.#idOf(run));
        expected.interrupt(run);
        return;
      case "interject":
        if (!run || expected.queue.has(run)) return;
        this.#write("interrupt", run);
        expected.interrupt(run);
    }
  }

  /** Lets the model, tool or user that a run waits for make a move. */
  #goOn(run: ExpectedRun, how: number): void {
    const { expected, session } = this;
    const puppet = this.puppets[run.chat] as Puppet;
    if (run.waitsFor === "tool") {
      puppet.move({ type: "done" });
      expected.callEnds(run);
      return;
    }
    if (run.waitsFor === "person") {
      const message = this.#idOf(run.leaf);
      const question = [...session.state.questions.values()].find((other) => other.message === message);
      const decision = how % 2 === 0 ? "allow" : "deny";
      this.#wait(session.answer(question?.id ?? "", { decision }));
      if (decision === "allow") expected.allow(run);
      else expected.deny(run);
      return;
    }
    const text = this.#newText("answer");
    switch (how % 6) {
      case 0:
        puppet.move({ type: "fail" });
        expected.fail(run);
        return;
      case 1:
      case 2: {
        const asks = how % 2 === 0;
        const calls = asks ? 1 : 1 + (how % 3);
        puppet.move({ type: "call", calls, asks });
        expected.call(run, calls, asks);
        return;
      }
      case 3:
        puppet.move({ type: "words", text });
        expected.words(run, text);
        return;
      default:
        puppet.move({ type: "answer", text });
        expected.answer(run, text);
    }
  }

  /** Waits until nothing moves, then compares. */
  async settle(): Promise<void> {
    await Promise.all(this.#pending.splice(0));
    for (let quiet = 0, seq = -1; quiet < 6; quiet++) {
      await new Promise((resolve) => setImmediate(resolve));
      const now = this.session.state.seq;
      if (now !== seq) quiet = 0;
      seq = now;
    }
    this.#compareReaders();
    const { expected } = this;
    const { messages, runs, inbox, leaf } = this.session.state;
    const unknown = (known: ReadonlyMap<unknown, string>, ids: Iterable<string>) => {
      const old = new Set(known.values());
      return [...ids].filter((id) => !old.has(id));
    };
    const newMessages = unknown(this.#messages, messages.keys());
    for (const node of expected.nodes) {
      if (!this.#messages.has(node)) this.#messages.set(node, newMessages.shift() ?? "missing");
    }
    const newRuns = unknown(this.#runs, runs.keys());
    for (const run of expected.runs) if (!this.#runs.has(run)) this.#runs.set(run, newRuns.shift() ?? "missing");

    const id = (node: Node | null) => (node === null ? null : this.#idOf(node));
    expect([...messages.values()].map(shapeOf)).toEqual(
      expected.nodes.map((node) => ({
        id: id(node),
        parent: id(node.parent),
        by: node.by,
        text: node.text,
        label: node.label,
        starred: node.starred,
        removed: node.removed,
      })),
    );
    expect(leaf).toBe(id(expected.leaf));
    expect([...runs.values()].map((run) => ({ id: run.id, leaf: run.leaf }))).toEqual(
      expected.runs.map((run) => ({ id: this.#idOf(run), leaf: id(run.leaf) })),
    );
    expect(inbox.map(({ parts, ...rest }) => ({ ...rest, text: parts[0]?.type === "text" && parts[0].text }))).toEqual(
      expected.inbox.map((text) => ({ ...text, run: text.run && this.#idOf(text.run), at: id(text.at) })),
    );
  }

  /** Adds a client with a copy of the state. Earlier clients now follow the feed from their copies. */
  watch(): void {
    for (const reader of this.#readers) reader.following ??= this.#follow(reader);
    this.#readers.push({ ...this.session.snapshot(), following: undefined });
  }

  async #follow({ state, cursor }: Reader): Promise<void> {
    for await (const item of this.session.feed({ from: cursor })) reduce(state, item);
  }

  /** Checks that all following clients have the state of the session. */
  #compareReaders(): void {
    for (const { state, following } of this.#readers) {
      if (following && !isDeepStrictEqual(state, this.session.state)) expect(state).toEqual(this.session.state);
    }
  }

  /** Waits for the ends of all feeds after the session was closed. */
  async end(): Promise<void> {
    await Promise.all(this.#readers.map(({ following }) => following));
    this.#compareReaders();
  }

  /** Completes all runs and delivers all inputs. */
  async finish(): Promise<void> {
    const { expected } = this;
    for (let round = 0; expected.runs.length > 0 || expected.inbox.length > 0; round++) {
      if (round > 500) throw new Error("The conversation does not come to its end.");
      const [run] = expected.runs;
      if (run) this.#goOn(run, 4);
      else this.progress({ name: "resume", what: this.#whereSomethingWaits(), how: 0 });
      if (!run && expected.nodes.length === 0) return;
      await this.settle();
    }
  }

  /** Returns the index of the message below which the first input will be delivered. */
  #whereSomethingWaits(): number {
    const at = this.expected.inbox[0]?.at;
    return at ? Math.max(0, this.expected.nodes.indexOf(at)) : 0;
  }

  #chat(directive: ReturnType<typeof resume>, at: Node | null): number {
    const puppet = new Puppet();
    const options = at === null ? {} : { at: this.#idOf(at) };
    void Array.fromAsync(puppet.agent.chat(directive, { session: this.session, ...options }));
    return this.puppets.push(puppet) - 1;
  }

  #write(delivery: Waiting["delivery"], run: ExpectedRun | undefined): void {
    const { session, expected } = this;
    const default_ = expected.runs.find(({ leaf }) => leaf === expected.leaf);
    if (!run && default_ && expected.queue.has(default_)) return;
    const text = this.#newText(delivery);
    const id = `input-${text.replace(" ", "-")}`;
    expected.write(id, text, delivery, run);
    const options = run ? { id, delivery, run: this.#idOf(run) } : { id, delivery };
    this.#wait(session.say([{ type: "text", text }], options));
    // A client without a confirmation sends the message again.
    this.#wait(session.say([{ type: "text", text }], options));
  }

  #isBusy(node: Node): boolean {
    return this.expected.runs.some(({ leaf }) => leaf === node);
  }

  #wait(promise: Promise<unknown>): void {
    this.#pending.push(promise);
  }

  #newText(what: string): string {
    return `${what} ${this.#texts++}.`;
  }

  #idOf(of: Node | ExpectedRun): string {
    return ("parent" in of ? this.#messages.get(of) : this.#runs.get(of)) ?? "unknown";
  }
}

function shapeOf(message: Message) {
  const { id, parentId, role, label, starred = false, removed = false } = message;
  return {
    id,
    parent: parentId,
    by: role === "user" ? "user" : "model",
    text: textOf(message),
    label,
    starred,
    removed,
  };
}

function pick<T>(items: readonly T[], number: number): T | undefined {
  return items[number % items.length];
}

export function replay(state: ConversationState, items: readonly FeedItem[]): ConversationState {
  for (const item of items) reduce(state, item);
  return state;
}
