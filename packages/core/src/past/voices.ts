import type { Event } from "../conversation/event.ts";
import type { DeltaSource } from "../conversation/feed-item.ts";
import type { ConversationState } from "../conversation/state.ts";
import { Recent } from "./recent.ts";

/** Responses whose voices are remembered at the least: a conversation goes on for ever, and its memory does not grow. */
const REMEMBERED = 500;

/** Whose voice each of the last responses of a conversation is, also when their runs have ended: for text that the log has. */
export class Voices {
  readonly #state: ConversationState;
  /** Of runs that have not ended. */
  readonly #live = new Map<string, DeltaSource>();
  /** By message: one that was given up is in no state. */
  readonly #heard = new Recent<DeltaSource>(REMEMBERED);

  /** `state` must know of an event before it is heard. */
  constructor(state: ConversationState) {
    this.#state = state;
  }

  hear(event: Event): void {
    if (event.type === "message.started") {
      const { message, run } = event;
      this.#heard.set(message, this.#live.get(run) ?? { run, agent: "", depth: 0 });
    }
    if (event.type === "run.ended") this.#live.delete(event.run);
    if (event.type !== "run.started") return;
    const { run, agent, call } = event;
    const asks = call === undefined ? undefined : this.#state.calls.get(call);
    const depth = asks === undefined ? 0 : this.of(asks).depth + 1;
    this.#live.set(run, { run, agent, depth });
  }

  /**
   * Which run and agent a response belongs to; an empty name where the log does not say, or said it too long ago to be
   * remembered.
   */
  of(message: string): DeltaSource {
    return this.#heard.get(message) ?? { run: "", agent: "", depth: 0 };
  }

  /** The same, for whoever reads the log again from some place on, and hears old events. */
  again(): Voices {
    const voices = new Voices(this.#state);
    voices.#heard.takeAll(this.#heard);
    for (const [run, voice] of this.#live) voices.#live.set(run, voice);
    return voices;
  }
}
