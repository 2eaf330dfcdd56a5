import type { Delivery } from "../../conversation/event.ts";

/** A message as it should be. */
export interface Node {
  readonly parent: Node | null;
  readonly by: "user" | "model";
  text: string;
  /** An answer that is complete and asks for nothing. */
  final: boolean;
  label: string | undefined;
  starred: boolean;
  removed: boolean;
}

/** A run as it should be: what it waits for. */
export interface ExpectedRun {
  /** Which chat it belongs to. */
  readonly chat: number;
  leaf: Node;
  waitsFor: "model" | "tool" | "person";
  /** Calls of its last answer that have no result. */
  calls: number;
}

/** A text that waits as it should. */
export interface Waiting {
  readonly id: string;
  text: string;
  delivery: Delivery;
  run: ExpectedRun | null;
  /** Where its run stood when it ended. */
  at: Node | null;
  held: boolean;
}

/**
 * What a conversation should be after each command, told anew in the simplest way: a list of messages, one of runs that
 * each wait for something, and one of texts. It knows of no events, and only of moments at which nothing moves.
 */
export class ExpectedTree {
  nodes: Node[] = [];
  leaf: Node | null = null;
  runs: ExpectedRun[] = [];
  inbox: Waiting[] = [];
  /** Chats that wait for a run's branch, with what they say. */
  readonly queue = new Map<ExpectedRun, { readonly chat: number; readonly text: string }>();

  /** A chat says something below a message, when no run stands there any more. */
  say(chat: number, at: Node | null, text: string): void {
    const other = this.runs.find((run) => run.leaf === at);
    if (other) this.queue.set(other, { chat, text });
    else this.#begin(chat, this.#add(at, "user", text));
  }

  /** A chat asks for another answer to the last thing said on a path, or says that anew. */
  retry(chat: number, at: Node, text: string | undefined): void {
    let last = at;
    while (last.by !== "user" && last.parent) last = last.parent;
    this.#begin(chat, text === undefined ? last : this.#add(last.parent, "user", text));
  }

  /** What waits, is for no run that lives, and was written to somebody on the path to a message. */
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

  /** The model says some words of an answer. */
  words(run: ExpectedRun, text: string): void {
    run.leaf.text += text;
  }

  /** The model ends its answer, and with it the turn. */
  answer(run: ExpectedRun, text: string): void {
    run.leaf.text += text;
    run.leaf.final = true;
    this.#end(run, () => {});
  }

  /** The model ends its answer with calls: the first one waits for a person, or runs. */
  call(run: ExpectedRun, calls: number, asks: boolean): void {
    run.calls = calls;
    run.waitsFor = asks ? "person" : "tool";
  }

  /** The model cannot answer. */
  fail(run: ExpectedRun): void {
    this.#breakOff(run);
    this.#end(run, (text) => (text.held = true));
  }

  /** A person allows a call. */
  allow(run: ExpectedRun): void {
    run.waitsFor = "tool";
  }

  /** A person denies a call. */
  deny(run: ExpectedRun): void {
    this.callEnds(run);
  }

  /** A call has its result: the next one starts. */
  callEnds(run: ExpectedRun): void {
    run.calls--;
    if (run.calls === 0) this.#hear(run);
  }

  interrupt(run: ExpectedRun): void {
    if (run.waitsFor === "model") this.#breakOff(run);
    this.#end(run, (text) => (text.held ||= text.delivery !== "interrupt"));
  }

  /** A person writes to a run, or to the one that lives where the conversation was last written to. */
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

  /** Makes messages of texts, one below the other. */
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

  /** No call runs any more: the model is asked again, with what steers. */
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

  /** An answer without a word is as if it had never been. */
  #breakOff(run: ExpectedRun): void {
    const { leaf } = run;
    if (leaf.text !== "" || !leaf.parent) return;
    this.nodes = this.nodes.filter((node) => node !== leaf);
    if (this.leaf === leaf) this.leaf = leaf.parent;
    run.leaf = leaf.parent;
  }

  /** What was said meanwhile is the next turn; else whoever waits for the branch has it. */
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

/** The message, or the nearest one above it that nobody removed, by itself or with one above. */
function standing(leaf: Node): Node | null {
  let found: Node | null = leaf;
  for (let at: Node | null = leaf; at; at = at.parent) if (at.removed) found = at.parent;
  return found;
}
