import type { Event, EventBody } from "../conversation/event.ts";
import type { AssistantMessage, Message } from "../conversation/message.ts";
import type { ConversationState } from "../conversation/state.ts";
import { isShortening, isSummary, parentKey } from "../conversation/tree/path.ts";
import type { CacheMiss, Usage } from "../conversation/usage.ts";
import { Recent } from "./recent.ts";

/** Bounded, because a conversation may never end. */
const REMEMBERED = 500;

/** Smaller losses are no miss: providers cache whole blocks, and none of a short request. */
const LEAST_TOKENS = 1_024;
const LEAST_SHARE = 0.1;

/** Milliseconds after which providers may drop a cached request, by default. */
const KEPT = 5 * 60_000;

/** How the requests of a run begin, as digests and as JSON. */
interface RequestStart {
  readonly tools: string;
  readonly instructions: string;
  readonly settings: string;
}

type CompletedResponse = Pick<Extract<EventBody, { readonly type: "message.completed" }>, "message" | "usage">;

/** Finds the responses whose requests the provider's cache should have had, with the cause of each miss (V5). */
export class CacheMisses {
  readonly #state: ConversationState;
  readonly #starts = new Recent<RequestStart>(REMEMBERED);
  /** Times at which responses ended, by message. */
  readonly #ends = new Recent<number>(REMEMBERED);
  /** Models whose provider has reported a use of its cache. */
  readonly #reporting = new Set<string>();

  /** `state` must include an event before `hear` gets the event. */
  constructor(state: ConversationState) {
    this.#state = state;
  }

  hear(event: Event): void {
    if (event.type === "run.started") {
      const { run, tools, instructions, settings } = event;
      this.#starts.set(run, { tools, instructions, settings: JSON.stringify(settings) });
    } else if (event.type === "message.completed") {
      this.#ends.set(event.message, event.at);
      if (usesCache(event)) this.#reporting.add(this.#response(event.message)?.model ?? "");
    }
  }

  /** Returns the miss of a response that is about to complete, as a field of the event; nothing without a miss. */
  foundIn(completed: CompletedResponse): { readonly cacheMiss?: CacheMiss } {
    const { input, cached } = completed.usage;
    const response = input - cached > LEAST_TOKENS ? this.#response(completed.message) : undefined;
    if (!response) return {};
    const { earlier, isCompacted } = this.#requestBefore(response);
    const isReported = usesCache(completed) || [response, earlier].some((one) => this.#reporting.has(one?.model ?? ""));
    if (!isReported) return {};
    const tokens = Math.min(input, earlier?.usage?.input ?? input) - cached;
    // A compaction makes the request shorter than the earlier request.
    if (!isCompacted && (tokens <= LEAST_TOKENS || tokens < LEAST_SHARE * input)) return {};
    const cause = earlier ? this.#causeBetween(earlier, response, isCompacted) : "first-request";
    return { cacheMiss: { cause, tokens } };
  }

  #response(id: string): AssistantMessage | undefined {
    const message = this.#state.messages.get(id);
    return message?.role === "assistant" ? message : undefined;
  }

  /** Returns the last response whose request began like that of a response: a sibling, or the nearest ancestor. */
  #requestBefore(response: AssistantMessage): { earlier: AssistantMessage | undefined; isCompacted: boolean } {
    const { messages, children } = this.#state;
    const siblings = children.get(parentKey(response)) ?? [];
    const sibling = siblings.map((id) => messages.get(id)).findLast((one) => one !== response && isAnswered(one));
    if (sibling) return { earlier: sibling as AssistantMessage, isCompacted: false };
    let isCompacted = false;
    for (let id = response.parentId; id !== null; ) {
      const message = messages.get(id);
      if (isAnswered(message)) return { earlier: message, isCompacted };
      if (message?.role === "summary" && (isSummary(message) || isShortening(message))) isCompacted = true;
      id = message?.parentId ?? this.#state.above.get(id) ?? null;
    }
    return { earlier: undefined, isCompacted };
  }

  #causeBetween(earlier: AssistantMessage, response: AssistantMessage, isCompacted: boolean): CacheMiss["cause"] {
    if (earlier.model !== response.model) return "model";
    const before = this.#starts.get(earlier.run);
    const now = this.#starts.get(response.run);
    const changed = (["tools", "instructions", "settings"] as const).find((part) => before?.[part] !== now?.[part]);
    if (before && now && changed) return changed;
    if (isCompacted) return "compaction";
    const end = this.#ends.get(earlier.id) ?? earlier.createdAt;
    return response.createdAt - end > KEPT ? "pause" : "provider";
  }
}

function isAnswered(message: Message | undefined): message is AssistantMessage {
  return message?.role === "assistant" && (message.usage?.input ?? 0) > 0;
}

/** Also for a log of another program, whose events may lack fields. */
function usesCache({ usage }: { readonly usage?: Usage }): boolean {
  return (usage?.cached ?? 0) > 0 || (usage?.cacheWrite ?? 0) > 0;
}
