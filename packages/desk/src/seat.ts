import type { Command, Problem } from "@banyan/protocol";
import type { FeedSubscription, Watchable } from "./live/elsewhere.ts";
import { ClientFrame } from "./live/frame.ts";
import type { ListWatch } from "./live/list-watch.ts";
import type { ClientConnection } from "./live/subscription.ts";
import { type Performer, refusalOf } from "./perform.ts";
import { type CommandOutcome, type ConnectionCommand, type DeskCommand, isOfConnection } from "./request/command.ts";
import type { Principal } from "./request/principal.ts";

/** The functions of a desk that `Seat` uses. */
export interface SeatParts {
  /** Returns a conversation to watch, on any node. */
  watchable(conversation: string): Promise<Watchable>;
  readonly performer: Performer;
  readonly listWatch: ListWatch;
  /** Receives errors of work that no client requested. Must not throw. */
  defect(error: unknown): void;
  left(seat: Seat): void;
}

/** A client of a desk, with its commands and its subscriptions. `line`: the client's connection. */
export class Seat {
  readonly #line: ClientConnection;
  readonly #principal: Principal;
  readonly #parts: SeatParts;
  readonly #watched = new Map<string, { readonly live: Watchable; readonly subscription: FeedSubscription }>();
  #isLeft = false;
  #last: Promise<void> = Promise.resolve();

  constructor(line: ClientConnection, principal: Principal, parts: SeatParts) {
    this.#line = line;
    this.#principal = principal;
    this.#parts = parts;
  }

  /** True if the client is a guest with a shared link. */
  get isShownOne(): boolean {
    return this.#principal.only !== undefined;
  }

  send(frame: ClientFrame): void {
    this.#line.send(frame);
  }

  ask(command: Command): void {
    if (isOfConnection(command)) this.#askInOrder(command);
    else this.#perform(command).catch(this.#parts.defect);
  }

  /** Reports to the client that a command failed. */
  fail(id: string, error: Problem, cause?: unknown): void {
    this.#line.send(new ClientFrame({ type: "failed", id, error }, { cause }));
  }

  /** Removes the client. Its turns continue. */
  leave(): void {
    this.#isLeft = true;
    this.#parts.listWatch.remove(this);
    for (const conversation of [...this.#watched.keys()]) this.#unsubscribe(conversation);
    this.#parts.left(this);
  }

  async #perform(command: Command<DeskCommand>): Promise<void> {
    const outcome = await this.#parts.performer.perform(command, this.#principal);
    // A client that watches gets the changes before the answer to its command.
    if ("conversation" in command) this.#watched.get(command.conversation ?? "")?.live.flush();
    this.#answer(command.id, outcome);
  }

  #askInOrder(command: Command<ConnectionCommand>): void {
    // A failed command does not stop the commands behind it.
    this.#last = this.#last.then(() => this.#performOwn(command)).catch(this.#parts.defect);
  }

  async #performOwn(command: Command<ConnectionCommand>): Promise<void> {
    const refused = refusalOf(command, this.#principal);
    if (refused) return this.fail(command.id, refused);
    const outcome = await this.#parts.performer.outcomeOf(() => this.#carryOut(command));
    // `message.read` has answered already, at its position among the frames.
    if ("error" in outcome || command.type !== "message.read") this.#answer(command.id, outcome);
  }

  async #carryOut(command: Command<ConnectionCommand>): Promise<object> {
    const { watchable, listWatch } = this.#parts;
    switch (command.type) {
      case "conversation.watch":
        if (command.on && !this.#isLeft) listWatch.add(this);
        else listWatch.remove(this);
        return {};
      case "feed.subscribe": {
        const live = await watchable(command.conversation);
        this.#unsubscribe(command.conversation);
        const subscription = await live.subscribe(this.#line, command.from, command.leaf);
        if (this.#isLeft) live.unsubscribe(subscription);
        else this.#watched.set(command.conversation, { live, subscription });
        return {};
      }
      case "feed.unsubscribe":
        this.#unsubscribe(command.conversation);
        return {};
      case "message.read": {
        const live = await watchable(command.conversation);
        const subscription = this.#watched.get(command.conversation)?.subscription;
        await live.read(command.messages, this.#principal, subscription, (result) =>
          this.#answer(command.id, { result }),
        );
        return {};
      }
    }
  }

  #unsubscribe(conversation: string): void {
    const watched = this.#watched.get(conversation);
    watched?.live.unsubscribe(watched.subscription);
    this.#watched.delete(conversation);
  }

  #answer(id: string, outcome: CommandOutcome): void {
    if ("error" in outcome) return this.fail(id, outcome.error, outcome.cause);
    this.#line.send(new ClientFrame({ type: "done", id, result: outcome.result as Record<string, unknown> }));
  }
}
