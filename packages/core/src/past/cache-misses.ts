import type { EventBody } from "../conversation/event.ts";
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

/** Milliseconds between the beginnings of two responses after which providers may drop a cached request. */
const KEPT = 5 * 60_000;

const NONE = {};

type RunStart = Extract<EventBody, { readonly type: "run.started" }>;

/** The parts of a request that stand before its messages. `tools` and `instructions` are digests. */
type RequestStart = Pick<RunStart, "tools" | "instructions" | "settings">;

/** Finds the responses whose requests should have been in the provider's cache, with the cause of each miss (V5). */
export class CacheMisses {
  readonly #state: ConversationState;
  /** The beginnings of requests, by run. Runs whose requests begin alike share one object. */
  readonly #starts = new Recent<RequestStart>(REMEMBERED);
  #lastStart: RequestStart | undefined;
  /** Models whose provider has reported that it uses a cache. */
  readonly #reporting = new Set<string>();

  /** `state` must include an event before this class hears of the event. */
  constructor(state: ConversationState) {
    this.#state = state;
  }

  begin({ run, tools, instructions, settings }: RunStart): void {
    const start = { tools, instructions, settings };
    if (!this.#lastStart || changedPart(this.#lastStart, start) !== undefined) this.#lastStart = start;
    this.#starts.set(run, this.#lastStart);
  }

  complete(message: string, usage: Usage | undefined): void {
    if (usesCache(usage)) this.#reporting.add(this.#response(message)?.model ?? "");
  }

  /** Returns the miss of a response that is about to complete, as a field of its event; nothing without a miss. */
  foundIn(message: string, usage: Usage): { readonly cacheMiss?: CacheMiss } {
    const { input, cached } = usage;
    const response = input - cached > LEAST_TOKENS ? this.#response(message) : undefined;
    if (!response) return NONE;
    const { earlier, isCompacted } = this.#requestBefore(response);
    const isReported = usesCache(usage) || [response, earlier].some((one) => this.#reporting.has(one?.model ?? ""));
    if (!isReported) return NONE;
    const tokens = Math.min(input, earlier?.usage?.input ?? input) - cached;
    // A compaction makes the request shorter than the earlier request.
    if (!isCompacted && (tokens <= LEAST_TOKENS || tokens < LEAST_SHARE * input)) return NONE;
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
    const changed = before && now && changedPart(before, now);
    if (changed) return changed;
    if (isCompacted) return "compaction";
    return response.createdAt - earlier.createdAt > KEPT ? "pause" : "provider";
  }
}

function changedPart(before: RequestStart, now: RequestStart): keyof RequestStart | undefined {
  if (before.tools !== now.tools) return "tools";
  if (before.instructions !== now.instructions) return "instructions";
  // The runs of one agent share an object.
  const isSame = before.settings === now.settings || JSON.stringify(before.settings) === JSON.stringify(now.settings);
  return isSame ? undefined : "settings";
}

function isAnswered(message: Message | undefined): message is AssistantMessage {
  return message?.role === "assistant" && (message.usage?.input ?? 0) > 0;
}

function usesCache(usage: Usage | undefined): boolean {
  return (usage?.cached ?? 0) > 0 || (usage?.cacheWrite ?? 0) > 0;
}
