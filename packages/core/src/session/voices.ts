import type { DeltaSource, Event } from "../conversation/event.ts";
import type { ConversationState } from "../conversation/state.ts";

/** Whose voice each run of a conversation is, also of those that have ended: for text that the log has. */
export class Voices {
  readonly #state: ConversationState;
  readonly #byRun = new Map<string, DeltaSource>();
  /** The run of each message that is, or was, an answer: one that was given up is in no state. */
  readonly #runs = new Map<string, string>();

  /** `state` must know of an event before it is heard. */
  constructor(state: ConversationState) {
    this.#state = state;
  }

  hear(event: Event): void {
    if (event.type === "message.started") this.#runs.set(event.message, event.run);
    if (event.type !== "run.started") return;
    const { run, agent, call } = event;
    const asks = call === undefined ? undefined : this.#state.calls.get(call);
    const depth = asks === undefined ? 0 : this.of(asks).depth + 1;
    this.#byRun.set(run, { run, agent, depth });
  }

  /** Whose voice an answer is; nobody's name in a log that does not say it. */
  of(message: string): DeltaSource {
    const run = this.#runs.get(message) ?? "";
    return this.#byRun.get(run) ?? { run, agent: "", depth: 0 };
  }
}
