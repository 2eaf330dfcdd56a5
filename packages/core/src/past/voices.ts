import type { Event } from "../conversation/event.ts";
import type { DeltaSource } from "../conversation/feed-item.ts";
import type { ConversationState } from "../conversation/state.ts";
import { Recent } from "./recent.ts";

/**
 * Runs, and messages, whose voices are remembered at the least: a conversation goes on for ever, and its memory does not
 * grow.
 */
const REMEMBERED = 500;

/** Whose voice each of the last runs of a conversation is, also of those that have ended: for text that the log has. */
export class Voices {
  readonly #state: ConversationState;
  readonly #byRun = new Recent<DeltaSource>(REMEMBERED);
  /** The run of each message that is, or was, a response: one that was given up is in no state. */
  readonly #runs = new Recent<string>(REMEMBERED);

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

  /** Whose voice a response is; nobody's name in a log that does not say it, or said it long ago. */
  of(message: string): DeltaSource {
    const run = this.#runs.get(message) ?? "";
    return this.#byRun.get(run) ?? { run, agent: "", depth: 0 };
  }

  /** The same, for whoever reads the log again from some place on, and hears old events. */
  again(): Voices {
    const voices = new Voices(this.#state);
    voices.#runs.takeAll(this.#runs);
    voices.#byRun.takeAll(this.#byRun);
    return voices;
  }
}
