import type { Event } from "../conversation/event.ts";
import type { DeltaSource } from "../conversation/feed-item.ts";
import type { ConversationState } from "../conversation/state.ts";
import { Recent } from "./recent.ts";
import { SmallMap } from "./small-map.ts";

/** Bounded, because a conversation may never end. */
const REMEMBERED = 500;

/** The run, agent and nesting depth of each recent response, even after the response's run has ended. */
export class ResponseSources {
  readonly #state: ConversationState;
  readonly #live = new SmallMap<DeltaSource>();
  /** The sources by message. The state does not contain abandoned messages. */
  readonly #responses = new Recent<DeltaSource>(REMEMBERED);

  /** `state` must include an event before `add` gets the event. */
  constructor(state: ConversationState) {
    this.#state = state;
  }

  add(event: Event): void {
    if (event.type === "message.started") {
      const { message, run } = event;
      this.#responses.set(message, this.#live.get(run) ?? { run, agent: "", depth: 0 });
    }
    if (event.type === "run.ended") this.#live.delete(event.run);
    if (event.type !== "run.started") return;
    const { run, agent, call } = event;
    const asks = call === undefined ? undefined : this.#state.calls.get(call);
    const depth = asks === undefined ? 0 : this.of(asks).depth + 1;
    this.#live.set(run, { run, agent, depth });
  }

  /** Names are empty if the log has none, or if the response is too old to be remembered. */
  of(message: string): DeltaSource {
    return this.#responses.get(message) ?? { run: "", agent: "", depth: 0 };
  }

  /** Returns a copy for a reader that replays old events of the log. */
  copy(): ResponseSources {
    const sources = new ResponseSources(this.#state);
    sources.#responses.takeAll(this.#responses);
    for (const source of this.#live.values()) sources.#live.set(source.run, source);
    return sources;
  }
}
