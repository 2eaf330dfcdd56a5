import type { Event, RunEnd } from "./event.ts";
import { checkArguments } from "./option-names.ts";

/** A fragment of streaming text. Only the feed has fragments; the log stores complete events. See {@link isDelta}. */
export type Delta = DeltaBody & DeltaSource & DeltaPosition;

/** The run and the agent that wrote a fragment. See {@link isDelta}. */
export interface DeltaSource {
  readonly run: string;
  readonly agent: string;
  /** 0 for the user's agent, 1 for its sub-agents, 2 for their sub-agents. */
  readonly depth: number;
}

/** The content of a fragment, without its position in the feed. See {@link isDelta}. */
export type DeltaBody =
  | {
      readonly type: "text.delta" | "reasoning.delta";
      readonly message: string;
      readonly part: number;
      readonly text: string;
    }
  /** The model writes the arguments of a call. */
  | {
      readonly type: "call.input.delta";
      readonly message: string;
      readonly part: number;
      readonly call: string;
      readonly tool: string;
      readonly text: string;
    }
  /** A running tool writes output. */
  | {
      readonly type: "call.output.delta";
      readonly message: string;
      readonly call: string;
      readonly text: string;
    }
  /** The model writes a change that a call will make. */
  | {
      readonly type: "call.draft.delta";
      readonly message: string;
      readonly call: string;
      /** Index of the draft in its call. */
      readonly draft: number;
      readonly path: string;
      readonly start?: number;
      readonly end?: number;
      readonly text: string;
      readonly problems?: readonly string[];
    };

/**
 * Position of a delta in the feed: after event `seq`, at `offset` UTF-16 units of deltas after this event.
 * See {@link isDelta}.
 */
export interface DeltaPosition {
  readonly seq: number;
  readonly epoch: number;
  readonly offset: number;
  /**
   * For text and reasoning: position in the part at which the fragment starts, in UTF-16 units. The fragment replaces
   * all text that the reader has from this position on. After a break it can repeat text or withdraw lost text (W81).
   */
  readonly begins?: number;
}

/** An item of the feed that no log stores, such as the announcement of a retry. See {@link itemSentence}. */
export type Notice =
  /** A model call failed and will be retried, or a model call waits for the rate limit of its agent. */
  | {
      readonly type: "model.retrying";
      readonly run: string;
      /** Number of the next attempt, from 2. It is 1 if the first call waits for the rate limit. */
      readonly attempt: number;
      /** Milliseconds until the attempt. */
      readonly delay: number;
      /** Time of the attempt in milliseconds since 1970. */
      readonly nextAt: number;
      readonly code: string;
      readonly status?: number;
      readonly reason: string;
    }
  /** A fallback replaces a failed model for the rest of the turn. */
  | {
      readonly type: "model.replaced";
      readonly run: string;
      /** Both models as `provider/model`. */
      readonly from: string;
      readonly to: string;
      readonly code: string;
      readonly reason: string;
    }
  /** A model has been silent for a while. Published every 20 seconds. */
  | {
      readonly type: "model.waiting";
      readonly run: string;
      readonly message: string;
      /** Milliseconds since the last part, or since the request if no part has come. */
      readonly time: number;
      /** True if data arrived in the last 20 seconds, so the connection works. */
      readonly alive: boolean;
    }
  /**
   * A requested turn waits for tools before it begins. Published every 5 seconds, and once at the end. `command`: id of
   * the turn's first message or of its run. `reason`: the awaited tools, or at the end the missing tools.
   */
  | { readonly type: "turn.waiting"; readonly command: string; readonly waits: boolean; readonly reason: string }
  /** Requests leave out an unreadable message. Published once while the conversation is open (F77). */
  | { readonly type: "message.left-out"; readonly message: string; readonly reason: string }
  /** A part of the request was changed for its provider. Published once while the conversation is open. */
  | { readonly type: "request.changed"; readonly run: string; readonly reason: string }
  | { readonly type: "memory.skipped"; readonly run: string; readonly reason: string }
  /** A host ended the approval mode `sandbox`, and asks before calls again. */
  | { readonly type: "approval.withdrawn"; readonly reason: string }
  /** A summary is being written for the earlier messages of the branch that ends at `leaf`. */
  | { readonly type: "context.shortening"; readonly run: string; readonly leaf: string | null; readonly reason: string }
  /** The summary failed; nothing changed. */
  | {
      readonly type: "context.not-shortened";
      readonly run: string;
      readonly leaf: string | null;
      readonly reason: string;
    }
  | {
      readonly type: "callback.failed";
      readonly callback: string;
      readonly reason: string;
      /** Set if the callback is a hook of the settings. `reason` then contains the name of the hook. */
      readonly isHook?: true;
    }
  /**
   * The reader's cursor belongs to an earlier writer. The reader must drop streamed text and all events after `seq`,
   * and rebuild its state if it had such events. The following items count.
   */
  | { readonly type: "feed.reset"; readonly epoch: number; readonly seq: number }
  /** The last item of a chat. */
  | { readonly type: "chat.ended"; readonly reason: ChatEnd };

/**
 * Reason for the end of a chat: `stop` if a turn handler stopped it, or else the reason for the end of its last turn.
 * See {@link Chat}.
 */
export type ChatEnd = "stop" | RunEnd;

/** An item of the feed of a conversation. See {@link isEvent}. */
export type FeedItem = Event | Delta | Notice;

/** Position of a consumer in a feed. See {@link cursorOf}. */
export interface Cursor {
  readonly epoch: number;
  readonly seq: number;
  /** Length of the deltas received after event `seq`, in UTF-16 units. */
  readonly offset: number;
}

/**
 * Returns the cursor after an item, for `session.feed({ from })`. Nothing for a notice, which has no position.
 * @example
 * let cursor: Cursor | undefined;
 * for await (const item of agent.chat(say("Hello"))) cursor = cursorOf(item) ?? cursor;
 */
export function cursorOf(item: FeedItem): Cursor | undefined {
  checkItem("cursorOf", item);
  if (!("seq" in item)) return undefined;
  return { epoch: item.epoch, seq: item.seq, offset: "offset" in item ? item.offset : 0 };
}

/**
 * True for a fragment of a stream.
 * @example for await (const item of agent.chat(say("Hello"))) if (isDelta(item)) console.log(item.type);
 */
export function isDelta(item: FeedItem): item is Delta {
  checkItem("isDelta", item);
  return "offset" in item && !("at" in item);
}

/**
 * True for an event of the log.
 * @example for await (const item of agent.chat(say("Hello"))) if (isEvent(item)) console.log(item.seq, item.type);
 */
export function isEvent(item: FeedItem): item is Event {
  checkItem("isEvent", item);
  return "at" in item;
}

/** Throws `OptionError` for a value that is no object (L11). */
function checkItem(owner: string, item: FeedItem): void {
  if (typeof item !== "object" || item === null) checkArguments(owner, { item }, { item: "object" });
}
