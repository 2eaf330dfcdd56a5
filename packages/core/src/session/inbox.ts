import type { UserContent } from "../conversation/checked/user-content.ts";
import type { EventBody } from "../conversation/event.ts";
import { checkArguments, type OptionNames, refuseUnknown } from "../conversation/option-names.ts";
import type { ConversationState, InputChange } from "../conversation/state.ts";
import { checkedUserParts } from "./added-message.ts";
import { noInput, noRun } from "./error.ts";
import { checkDelivery, deliveryOptions, type SayOptions } from "./options.ts";

const CHANGE: OptionNames<InputChange> = { parts: true, delivery: true, before: true, run: "string" };

interface InboxSession {
  readonly state: ConversationState;
  readonly runs: { isLive(run: string): boolean };
  commit(events: readonly EventBody[], options: { readonly durable: boolean }): void | Promise<void>;
  interrupt(run: string): void;
}

export class Inbox {
  readonly #session: InboxSession;

  constructor(session: InboxSession) {
    this.#session = session;
  }

  async say(content: UserContent, options: SayOptions): Promise<string> {
    const { delivery, input } = deliveryOptions(options);
    const parts = checkedUserParts(content);
    const { inbox, messages, runs, waiting, leaf } = this.#session.state;
    if (messages.has(input) || inbox.some(({ id }) => id === input)) return input;
    if (options.run !== undefined && !this.#hears(options.run)) throw noRun(options.run);
    const here = [...runs.values(), ...waiting.values()].find((live) => live.leaf === leaf && this.#hears(live.id));
    const run = options.run ?? here?.id ?? null;
    await this.#session.commit([{ type: "input.queued", input, parts, delivery, run }], { durable: true });
    if (delivery === "interrupt" && run !== null) this.#session.interrupt(run);
    return input;
  }

  async edit(input: string, given: InputChange): Promise<void> {
    checkArguments("session.editInput", { change: given }, { change: "object" });
    refuseUnknown("session.editInput", given, CHANGE);
    const { parts: content, ...change } = given;
    checkArguments("session.editInput", { before: change.before }, { before: "string or null or undefined" });
    if (change.delivery !== undefined) checkDelivery(change.delivery);
    this.#mustWait(input);
    const parts = content === undefined ? undefined : checkedUserParts(content);
    if (change.run !== undefined && !this.#hears(change.run)) throw noRun(change.run);
    await this.#session.commit([{ type: "input.edited", input, ...(parts && { parts }), ...change }], {
      durable: true,
    });
    const run = this.#session.state.inbox.find(({ id }) => id === input)?.run;
    if (change.delivery === "interrupt" && run) this.#session.interrupt(run);
  }

  async withdraw(input: string): Promise<void> {
    this.#mustWait(input);
    await this.#session.commit([{ type: "input.withdrawn", input }], { durable: true });
  }

  /** True if an input for this run is delivered: by the run, or by the turn's next run if the turn waits for a user. */
  #hears(run: string): boolean {
    return this.#session.runs.isLive(run) || this.#session.state.waiting.has(run);
  }

  #mustWait(input: string): void {
    if (!this.#session.state.inbox.some(({ id }) => id === input)) throw noInput(input);
  }
}
