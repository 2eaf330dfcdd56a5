import type { Delivery } from "../../conversation/event.ts";

/** An expected message. */
export interface Node {
  readonly parent: Node | null;
  readonly by: "user" | "model";
  text: string;
  /** True for a complete answer without calls. */
  final: boolean;
  label: string | undefined;
  starred: boolean;
  removed: boolean;
}

/** An expected run, and what it waits for. */
export interface ExpectedRun {
  /** Number of its chat. */
  readonly chat: number;
  leaf: Node;
  waitsFor: "model" | "tool" | "person";
  /** Number of calls of its last answer without a result. */
  calls: number;
}

/** An expected waiting input. */
export interface Waiting {
  readonly id: string;
  text: string;
  delivery: Delivery;
  run: ExpectedRun | null;
  /** Leaf of its run when the run ended. */
  at: Node | null;
  held: boolean;
}

/**
 * The expected conversation after each command, by the simplest model: lists of messages, runs and inputs. It has no
 * events, and only states in which nothing moves.
 */
export class ExpectedTree {
  nodes: Node[] = [];
  leaf: Node | null = null;
  runs: ExpectedRun[] = [];
  inbox: Waiting[] = [];
  /** Chats that wait for a run's branch, with their messages. */
  readonly queue = new Map<ExpectedRun, { readonly chat: number; readonly text: string }>();

  /** A chat adds a user message below a message, once no run works there. */
  say(chat: number, at: Node | null, text: string): void {
    const other = this.runs.find((run) => run.leaf === at);
    if (other) this.queue.set(other, { chat, text });
    else this.#begin(chat, this.#add(at, "user", text));
  }

  /** A chat requests another answer to the last user message on a path, or replaces the message. */
  retry(chat: number, at: Node, text: string | undefined): void {
    let last = at;
    while (last.by !== "user" && last.parent) last = last.parent;
    this.#begin(chat, text === undefined ? last : this.#add(last.parent, "user", text));
  }

  /** Returns the waiting inputs without a live run that were written on the path to a message. */
  left(at: Node): Waiting[] {
    const path = new Set<Node>();
    for (let node: Node | null = at; node; node = node.parent) path.add(node);
    return this.inbox.filter(({ held, run, at: stood }) => {
      const isHere = stood === null || path.has(stood) || !this.nodes.includes(stood);
      return isHere && (held || run === null || !this.runs.includes(run));
    });
  }

  canResume(at: Node): boolean {
    return this.left(at).length > 0 || !at.final;
  }

  resume(chat: number, at: Node): void {
    this.#begin(chat, this.#deliver(at, this.left(at)));
  }

  /** The model writes a part of an answer. */
  words(run: ExpectedRun, text: string): void {
    run.leaf.text += text;
  }

  /** The model completes its answer, which ends the turn. */
  answer(run: ExpectedRun, text: string): void {
    run.leaf.text += text;
    run.leaf.final = true;
    this.#end(run, () => {});
  }

  /** The model ends its answer with calls. The first call waits for a user, or runs. */
  call(run: ExpectedRun, calls: number, asks: boolean): void {
    run.calls = calls;
    run.waitsFor = asks ? "person" : "tool";
  }

  /** The model fails. */
  fail(run: ExpectedRun): void {
    this.#breakOff(run);
    this.#end(run, (text) => (text.held = true));
  }

  /** A user allows a call. */
  allow(run: ExpectedRun): void {
    run.waitsFor = "tool";
  }

  /** A user denies a call. */
  deny(run: ExpectedRun): void {
    this.callEnds(run);
  }

  /** A call ends, and the next one starts. */
  callEnds(run: ExpectedRun): void {
    run.calls--;
    if (run.calls === 0) this.#hear(run);
  }

  interrupt(run: ExpectedRun): void {
    if (run.waitsFor === "model") this.#breakOff(run);
    this.#end(run, (text) => (text.held ||= text.delivery !== "interrupt"));
  }

  /** A user writes to a run, or to the live run of the branch that was last written to. */
  write(id: string, text: string, delivery: Delivery, to: ExpectedRun | undefined): void {
    const run = to ?? this.runs.find(({ leaf }) => leaf === this.leaf) ?? null;
    this.inbox.push({ id, text, delivery, run, at: run ? run.leaf : this.leaf, held: run === null });
  }

  move(text: Waiting, before: Waiting | null): void {
    const rest = this.inbox.filter((other) => other !== text);
    const place = before === null || before === text ? rest.length : rest.indexOf(before);
    this.inbox = [...rest.slice(0, place), text, ...rest.slice(place)];
  }

  withdraw(text: Waiting): void {
    this.inbox = this.inbox.filter((other) => other !== text);
  }

  remove(node: Node): void {
    node.removed = true;
    for (let at = this.leaf; at; at = at.parent) if (at === node) this.leaf = node.parent;
  }

  #add(parent: Node | null, by: Node["by"], text: string): Node {
    const node: Node = { parent, by, text, final: false, label: undefined, starred: false, removed: false };
    this.nodes.push(node);
    this.leaf = node;
    return node;
  }

  /** Turns inputs into messages, each below the last. */
  #deliver(at: Node, texts: readonly Waiting[]): Node {
    let last = at;
    for (const text of texts) {
      last = this.#add(last, "user", text.text);
      this.withdraw(text);
    }
    return last;
  }

  #steering(run: ExpectedRun): Waiting[] {
    return this.inbox.filter((text) => text.run === run && text.delivery === "steer" && !text.held);
  }

  /** All calls have ended: the model is asked again, with steering inputs. */
  #hear(run: ExpectedRun): void {
    run.calls = 0;
    this.#ask(run, this.#deliver(run.leaf, this.#steering(run)));
  }

  #begin(chat: number, leaf: Node): void {
    const run: ExpectedRun = { chat, leaf, waitsFor: "model", calls: 0 };
    this.runs.push(run);
    this.#ask(run, leaf);
  }

  #ask(run: ExpectedRun, below: Node): void {
    run.leaf = this.#add(below, "model", "");
    run.waitsFor = "model";
  }

  /** An answer without text is dropped. */
  #breakOff(run: ExpectedRun): void {
    const { leaf } = run;
    if (leaf.text !== "" || !leaf.parent) return;
    this.nodes = this.nodes.filter((node) => node !== leaf);
    if (this.leaf === leaf) this.leaf = leaf.parent;
    run.leaf = leaf.parent;
  }

  /** Inputs that arrived meanwhile start the next turn, before other chats that wait for the branch. */
  #end(run: ExpectedRun, hold: (text: Waiting) => void): void {
    this.runs = this.runs.filter((other) => other !== run);
    const texts = this.inbox.filter((text) => text.run === run);
    for (const text of texts) {
      text.at = run.leaf;
      hold(text);
    }
    const next = texts.filter(({ held }) => !held);
    const [first, ...rest] = next;
    if (first) {
      this.withdraw(first);
      this.#begin(run.chat, this.#deliver(this.#add(standing(run.leaf), "user", first.text), rest));
    }
    const waiting = this.queue.get(run);
    this.queue.delete(run);
    if (waiting) this.say(waiting.chat, run.leaf, waiting.text);
  }
}

/** Returns the message, or its nearest ancestor that is neither removed nor below a removed message. */
function standing(leaf: Node): Node | null {
  let found: Node | null = leaf;
  for (let at: Node | null = leaf; at; at = at.parent) if (at.removed) found = at.parent;
  return found;
}
