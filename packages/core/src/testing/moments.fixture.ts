import { type Directive, resume, retry, say } from "../agent/directive.ts";
import type { Event } from "../conversation/event.ts";
import { isSettled } from "../conversation/message.ts";
import type { ConversationState } from "../conversation/state.ts";
import { pathTo } from "../conversation/tree/path.ts";
import type { Answer } from "../ports/verdict.ts";
import type { SayOptions } from "../session/options.ts";
import { checkConversation } from "./check-conversation.ts";

export * from "./moments-agent.fixture.ts";

/** Commands of clients, each with a number that chooses its object. */
export const COMMANDS = [
  "say",
  "say at the end",
  "say there",
  "send and wait",
  "retry",
  "retry there",
  "say anew there",
  "resume",
  "resume at a run",
  "resume there",
  "say at its calls",
  "resume at its calls",
  "compact",
  "compact there",
  "steer",
  "steer a run",
  "queue",
  "interject",
  "rewrite",
  "withdraw",
  "interrupt",
  "interrupt all",
  "remove",
  "restore",
  "allow",
  "deny",
  "change arguments",
] as const;

/** A command and its time. */
export interface Command {
  readonly name: (typeof COMMANDS)[number];
  /** Number of feed items before the command. */
  readonly at: number;
  readonly what: number;
}

/** Place and id of a new turn. */
export interface Beginning {
  readonly at?: string | undefined;
  /** Id of the message, if the turn adds one. */
  readonly id?: string | undefined;
}

/** A client of a conversation: in the process of its session, or over the network. */
export interface Client {
  /** The state that the client sees. */
  readonly state: ConversationState;
  /** True for an error that a client must expect: the object no longer exists, or there is nothing to do. */
  isRefusal(error: unknown): boolean;
  /** Returns an unused message id. */
  newId(): string;
  /** Begins a turn. Resolves with true if its message is certainly in the conversation. */
  begin(directive: Directive, beginning: Beginning): Promise<boolean>;
  /** Sends a message below the last one, and waits for the outcome if possible. */
  send(words: string): Promise<unknown>;
  /** Sends an input to a run. Resolves when the input is accepted. */
  input(words: string, options: SayOptions): Promise<unknown>;
  rewrite(input: string, words: string): Promise<unknown>;
  withdraw(input: string): Promise<unknown>;
  interrupt(run?: string): Promise<unknown>;
  compact(at?: string): Promise<unknown>;
  remove(message: string): Promise<unknown>;
  restore(message: string): Promise<unknown>;
  answer(question: string, answer: Answer): Promise<unknown>;
}

/** A conversation whose clients act at any moment, and its invariants. */
export class Moments {
  readonly problems: string[] = [];
  readonly #clients: readonly Client[];
  readonly #plan: Command[];
  readonly #accepted = new Set<string>();
  readonly #withdrawn = new Set<string>();
  readonly #pending = new Set<Promise<unknown>>();
  /** Number of feed items so far. */
  seen = 0;
  #texts = 0;

  /** The first client also begins the conversation and completes it. */
  constructor(clients: readonly Client[], plan: readonly Command[]) {
    this.#clients = clients;
    this.#plan = [...plan];
  }

  /** Counts new feed items, and carries out the commands that are due. */
  heard(items: number): void {
    this.seen += items;
    const due = this.#plan.filter(({ at }) => at <= this.seen);
    for (const command of due) {
      this.#plan.splice(this.#plan.indexOf(command), 1);
      queueMicrotask(() => this.do(command));
    }
  }

  /** Plays the conversation from its beginning to its end, as `bringToEnd` does. */
  async play(moment: () => Promise<unknown>, looks: number): Promise<void> {
    this.#begin(this.#clients[0] as Client, say("Begin"));
    await this.bringToEnd(moment, looks);
  }

  /**
   * Answers questions and sends waiting inputs until the first client sees nothing left. Checks after each `moment`, at
   * most `looks` times.
   */
  async bringToEnd(moment: () => Promise<unknown>, looks: number): Promise<void> {
    const client = this.#clients[0] as Client;
    for (let look = 0; look < looks; look++) {
      await moment();
      // Read each time, because a client may get a new state object.
      const { state } = client;
      const [question] = state.questions.keys();
      if (question !== undefined) this.#wait(client, client.answer(question, { decision: "allow" }));
      else if (state.runs.size === 0 && this.#pending.size === 0) {
        const [waiting] = state.inbox;
        if (waiting === undefined) return;
        const at = waiting.at !== null && state.messages.has(waiting.at) ? { at: waiting.at } : {};
        this.#begin(client, resume(), at);
      }
    }
    const { runs, inbox } = client.state;
    this.problems.push(`It does not come to its end: ${[...runs.keys()]} runs, ${inbox.length} texts wait.`);
  }

  /** Returns the faults of the completed conversation, by its whole log and the state derived from it. */
  check(state: ConversationState, log: readonly Event[]): string[] {
    const delivered = (id: string) => (state.messages.has(id) ? 1 : 0);
    return [
      ...this.problems,
      ...checkConversation(state, log),
      ...[...state.messages.values()].flatMap((message) =>
        isSettled(message) ? [] : [`Message ${message.id} has calls without a result.`],
      ),
      ...[...this.#accepted]
        .filter((id) => delivered(id) + (this.#withdrawn.has(id) ? 1 : 0) !== 1)
        .map((id) => `Text ${id} was accepted, and is neither a message nor withdrawn, or both.`),
    ];
  }

  /** Carries out one command of one client. */
  do({ name, what }: Pick<Command, "name" | "what">): void {
    const client = this.#clients[Math.floor(what / 7) % this.#clients.length] as Client;
    const { state } = client;
    const pick = <T>(items: Iterable<T>): T | undefined => {
      const all = [...items];
      return all[what % all.length];
    };
    const run = pick(state.runs.values());
    const there = { at: pick(state.messages.keys()) };
    const atWork = run && pathTo(state, run.leaf).findLast((message) => !isSettled(message))?.id;
    const question = pick(state.questions.values());
    const waiting = pick(state.inbox);
    const wait = (work: Promise<unknown> | undefined) => work && this.#wait(client, work);
    switch (name) {
      case "say":
        return this.#begin(client, say(this.#text()));
      case "say at the end":
        return this.#begin(client, say(this.#text()), { at: state.leaf ?? undefined });
      case "say there":
        return this.#begin(client, say(this.#text()), there);
      case "send and wait":
        return wait(client.send(this.#text()));
      case "retry":
        return this.#begin(client, retry());
      case "retry there":
        return this.#begin(client, retry(), there);
      case "say anew there":
        return this.#begin(client, retry(this.#text()), there);
      case "resume":
        return this.#begin(client, resume());
      case "resume at a run":
        return this.#begin(client, resume(), { at: run?.leaf ?? undefined });
      case "resume there": {
        const place = run && pick(pathTo(state, run.leaf).slice(-4));
        return this.#begin(client, resume(), { at: place?.id });
      }
      case "say at its calls":
        return this.#begin(client, say(this.#text()), { at: atWork });
      case "resume at its calls":
        return this.#begin(client, resume(), { at: atWork });
      case "compact":
        return wait(client.compact());
      case "compact there":
        return wait(client.compact(there.at));
      case "steer":
      case "queue":
        return this.#input(client, name);
      case "steer a run":
        return this.#input(client, "steer", run?.id);
      case "interject":
        return this.#input(client, "interrupt", run?.id);
      case "rewrite":
        return wait(waiting && client.rewrite(waiting.id, this.#text()));
      case "withdraw":
        return wait(waiting && client.withdraw(waiting.id).then(() => this.#withdrawn.add(waiting.id)));
      case "interrupt":
        return wait(run && client.interrupt(run.id));
      case "interrupt all":
        return wait(client.interrupt());
      case "remove":
      case "restore":
        return wait(there.at === undefined ? undefined : client[name](there.at));
      case "allow":
      case "deny":
        return wait(question && client.answer(question.id, { decision: name }));
      case "change arguments":
        return wait(question && client.answer(question.id, { decision: "allow", input: { changed: what } }));
    }
  }

  #input(client: Client, delivery: "steer" | "queue" | "interrupt", run?: string): void {
    const id = client.newId();
    this.#wait(
      client,
      client.input(this.#text(), { id, delivery, run }).then(() => this.#accepted.add(id)),
    );
  }

  #begin(client: Client, directive: Directive, { at }: Beginning = {}): void {
    const id = client.newId();
    const begun = client.begin(directive, { at, id });
    this.#wait(
      client,
      begun.then((isSaid) => isSaid && this.#accepted.add(id)),
    );
  }

  #wait(client: Client, work: Promise<unknown>): void {
    const watched = work
      .catch((error: unknown) => {
        if (!client.isRefusal(error)) this.problems.push(`Somebody was told: ${error}`);
      })
      .finally(() => this.#pending.delete(watched));
    this.#pending.add(watched);
  }

  #text(): string {
    return `Text ${this.#texts++}.`;
  }
}
