import type { DeltaSource, Event } from "../conversation/event.ts";
import type { ConversationState } from "../conversation/state.ts";

/**
 * Runs, and messages, whose voices are remembered at the least: a conversation goes on for ever, and its memory does not
 * grow.
 */
const REMEMBERED = 500;

/** Whose voice each of the last runs of a conversation is, also of those that have ended: for text that the log has. */
export class Voices {
  readonly #state: ConversationState;
  readonly #byRun = new Recent<DeltaSource>();
  /** The run of each message that is, or was, an answer: one that was given up is in no state. */
  readonly #runs = new Recent<string>();

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

  /** Whose voice an answer is; nobody's name in a log that does not say it, or said it long ago. */
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

/** The last values that were set, in two generations: when the young one is full, the old one goes. */
class Recent<Value> {
  #young = new Map<string, Value>();
  #old: ReadonlyMap<string, Value> = new Map();

  get(key: string): Value | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  set(key: string, value: Value): void {
    this.#young.set(key, value);
    if (this.#young.size < REMEMBERED) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  takeAll(other: Recent<Value>): void {
    this.#young = new Map(other.#young);
    this.#old = other.#old;
  }
}
