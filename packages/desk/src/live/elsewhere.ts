import type { Cursor, Message } from "@banyan/core";
import type { Command } from "@banyan/protocol";
import type { CommandOutcome, DeskCommand } from "../request/command.ts";
import type { Principal } from "../request/principal.ts";
import type { FeedViewer } from "./frame.ts";
import type { ClientConnection } from "./subscription.ts";

/** A client's subscription to the feed of a conversation. */
export interface FeedSubscription {
  end(): void;
}

/** A conversation that clients can watch, on this node or on another. */
export interface Watchable {
  subscribe(line: ClientConnection, from?: Cursor, leaf?: string): Promise<FeedSubscription>;
  unsubscribe(watching: FeedSubscription): void;
  /** See `LiveConversation.read`. */
  read(
    messages: readonly string[],
    viewer: FeedViewer,
    watching: FeedSubscription | undefined,
    answer: (found: { readonly messages: readonly Message[]; readonly unknown: readonly string[] }) => void,
  ): Promise<void>;
  /** Sends everything that has happened so far to all clients that are in step. */
  flush(): void;
}

/** The activity of a conversation: how many runs, and how many questions that wait for a user. */
export interface ConversationActivity {
  readonly running: number;
  readonly waiting: number;
}

/** Finds conversations that are open on other nodes. */
export interface OtherNodes {
  /** Carries out a command on the node that has its conversation open; here by `Performer.performHere`. Never rejects. */
  perform(command: Command<DeskCommand>, principal: Principal): Promise<CommandOutcome>;
  /** Returns a conversation to watch, on the node that has it open; here by `here`. Rejects like `here`. */
  watchable(conversation: string, principal: Principal, here: () => Promise<Watchable>): Promise<Watchable>;
  /** The activity of conversations that are open on other nodes. Idle conversations may be missing. */
  activities(): Promise<ReadonlyMap<string, ConversationActivity>>;
  /** Reports that the activity of a conversation on this node may have changed. */
  changed(conversation: string): void;
}
