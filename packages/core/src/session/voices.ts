import type { DeltaSource, Event } from "../conversation/event.ts";
import type { ConversationState } from "../conversation/state.ts";

/** Runs, and messages, whose voices are remembered: a conversation goes on for ever, and its memory does not grow. */
const REMEMBERED = 500;

/** Whose voice each of the last runs of a conversation is, also of those that have ended: for text that the log has. */
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
    if (event.type === "message.started") remember(this.#runs, event.message, event.run);
    if (event.type !== "run.started") return;
    const { run, agent, call } = event;
    const asks = call === undefined ? undefined : this.#state.calls.get(call);
    const depth = asks === undefined ? 0 : this.of(asks).depth + 1;
    remember(this.#byRun, run, { run, agent, depth });
  }

  /** Whose voice an answer is; nobody's name in a log that does not say it, or said it long ago. */
  of(message: string): DeltaSource {
    const run = this.#runs.get(message) ?? "";
    return this.#byRun.get(run) ?? { run, agent: "", depth: 0 };
  }

  /** The same, for whoever reads the log again from some place on, and hears old events. */
  again(): Voices {
    const voices = new Voices(this.#state);
    for (const [message, run] of this.#runs) voices.#runs.set(message, run);
    for (const [run, source] of this.#byRun) voices.#byRun.set(run, source);
    return voices;
  }
}

function remember<Value>(known: Map<string, Value>, key: string, value: Value): void {
  known.delete(key);
  known.set(key, value);
  if (known.size > REMEMBERED) known.delete(known.keys().next().value as string);
}
