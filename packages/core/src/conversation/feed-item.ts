import type { Event, RunEnd } from "./event.ts";

/** A fragment of something that streams: seen by whoever watches, never stored. */
export type Delta = DeltaBody & DeltaSource & DeltaPosition;

/** Whose voice a fragment is. */
export interface DeltaSource {
  readonly run: string;
  /** The name of the agent that the run is of. */
  readonly agent: string;
  /** 0 for the agent that the person talks with, 1 for its sub-agents, 2 for theirs. */
  readonly depth: number;
}

/** What a fragment says, without its place in the feed. */
export type DeltaBody =
  | {
      readonly type: "text.delta" | "reasoning.delta";
      readonly message: string;
      /** Index of the part in its message. */
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
  /** A running tool says something. */
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
    };

/** Where a delta stands in the feed: behind event `seq`, at the end of `offset` UTF-16 units of deltas since it. */
export interface DeltaPosition {
  readonly seq: number;
  readonly epoch: number;
  readonly offset: number;
  /**
   * Of text and reasoning: where in its part the fragment begins, in UTF-16 units. What a reader has of the part from
   * there on is replaced: after a break a fragment may say again what it has, or take back what was lost (W81).
   */
  readonly begins?: number;
}

/** Something that happens now and that nobody needs to know later. */
export type Notice =
  /** A model call failed and is tried again. */
  | {
      readonly type: "model.retrying";
      readonly run: string;
      /** The attempt that comes, from 2. */
      readonly attempt: number;
      /** Milliseconds from the failure to the attempt. */
      readonly delay: number;
      /** When it comes, in milliseconds since 1970. */
      readonly nextAt: number;
      /** That of the `ModelError`. */
      readonly code: string;
      /** HTTP status, where there was one. */
      readonly status?: number;
      /** One sentence. */
      readonly reason: string;
    }
  /** A model stays out, and another goes on with the turn: each message names the one that wrote it. */
  | {
      readonly type: "model.replaced";
      readonly run: string;
      /** Both as `provider/model`. */
      readonly from: string;
      readonly to: string;
      /** That of the last `ModelError`. */
      readonly code: string;
      /** One sentence. */
      readonly reason: string;
    }
  /** A model has said nothing for a while: told every 20 seconds. */
  | {
      readonly type: "model.waiting";
      readonly run: string;
      readonly message: string;
      /** Milliseconds since it said something, or was asked. */
      readonly time: number;
      /** Whether something came from it in the last 20 seconds: its connection is alive, and it thinks. */
      readonly alive: boolean;
    }
  /**
   * A turn that was asked for waits for tools before it begins: told every 5 seconds, and once more when it waits no longer.
   * The command's id is that of its first message, or of its run; the reason says what is waited for, and then what is missing.
   */
  | { readonly type: "turn.waiting"; readonly command: string; readonly waits: boolean; readonly reason: string }
  /** Requests leave out a message that cannot be read: told once while the conversation is open (F77). */
  | { readonly type: "message.left-out"; readonly message: string; readonly reason: string }
  /** Something of the request was changed for its provider: told once while the conversation is open. */
  | { readonly type: "request.changed"; readonly run: string; readonly reason: string }
  | { readonly type: "memory.skipped"; readonly run: string; readonly reason: string }
  /** A summary is being written, which will stand for the earlier conversation of the branch that ends at `leaf`. */
  | { readonly type: "context.shortening"; readonly run: string; readonly leaf: string | null; readonly reason: string }
  /** It came to nothing; everything stays as it was. */
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
      /** The callback is a hook of the settings, and the reason is a sentence that names the hook. */
      readonly isHook?: true;
    }
  /**
   * The reader's cursor was of another writer: drop what streamed, and all events after `seq`; what follows counts.
   * A reader that had events after `seq` builds its state anew.
   */
  | { readonly type: "feed.reset"; readonly epoch: number; readonly seq: number }
  /** The last item of a chat. */
  | { readonly type: "chat.ended"; readonly reason: ChatEnd };

/** Why a chat ended: a handler stopped it (by `stop()` or by returning nothing), or how its last turn ended. */
export type ChatEnd = "stop" | RunEnd;

/** What a consumer of a conversation sees, in order. */
export type FeedItem = Event | Delta | Notice;

/** Where a consumer stands in a feed. */
export interface Cursor {
  readonly epoch: number;
  readonly seq: number;
  /** UTF-16 units of deltas seen since event `seq`. */
  readonly offset: number;
}

/** The cursor behind an item: `session.feed({ from })` goes on after it. Notices have none. */
export function cursorOf(item: FeedItem): Cursor | undefined {
  if (!("seq" in item)) return undefined;
  return { epoch: item.epoch, seq: item.seq, offset: "offset" in item ? item.offset : 0 };
}

/** Whether an item is a fragment, which no log has. */
export function isDelta(item: FeedItem): item is Delta {
  return "offset" in item && !("at" in item);
}

/** Whether an item is a fact of the log. */
export function isEvent(item: FeedItem): item is Event {
  return "at" in item;
}
