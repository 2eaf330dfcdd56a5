import type { Cursor, Message } from "@banyan/core";
import type { Command } from "@banyan/protocol";
import { messageSize } from "@banyan/protocol/values";
import type { CommandOutcome, DeskCommand } from "../request/command.ts";
import type { Principal } from "../request/principal.ts";
import type { FeedViewer } from "./frame.ts";
import type { ClientConnection } from "./subscription.ts";

/** Maximum UTF-16 units of messages in one answer. A single larger message is still sent. */
const READ_AT_ONCE = 1024 * 1024;

/**
 * As many of the requested messages as fit, and the ids that do not exist. The client can request the other messages
 * again.
 */
export interface FoundMessages {
  readonly messages: readonly Message[];
  readonly unknown: readonly string[];
}

/** Finds messages by their ids, up to the maximum size of one answer. */
export function findMessages(all: ReadonlyMap<string, Message>, ids: readonly string[]): FoundMessages {
  const messages: Message[] = [];
  const unknown: string[] = [];
  let size = 0;
  for (const id of ids) {
    const message = all.get(id);
    size += message ? messageSize(message) : 0;
    if (!message) unknown.push(id);
    else if (size > READ_AT_ONCE && messages.length > 0) break;
    else messages.push(message);
  }
  return { messages, unknown };
}

/** A client's subscription to the events of a conversation. */
export interface FeedSubscription {
  end(): void;
}

/** A conversation that clients can watch, open on this node or on another. */
export interface Watchable {
  subscribe(line: ClientConnection, from?: Cursor, leaf?: string): Promise<FeedSubscription>;
  unsubscribe(watching: FeedSubscription): void;
  /** See `LiveConversation.read`. */
  read(
    messages: readonly string[],
    viewer: FeedViewer,
    watching: FeedSubscription | undefined,
    answer: (found: FoundMessages) => void,
  ): Promise<void>;
  /** Sends all pending items to the clients that are in step. */
  flush(): void;
}

/** The numbers of a conversation's runs and of its questions that wait for a user. */
export interface ConversationActivity {
  readonly running: number;
  readonly waiting: number;
}

/** Access to conversations that are open on other nodes. */
export interface OtherNodes {
  /** Carries out a command where its conversation is open; here with `Performer.performHere`. Never rejects. */
  perform(command: Command<DeskCommand>, principal: Principal): Promise<CommandOutcome>;
  /** Returns a conversation to watch, on the node where it is open; on this node with `here`. Rejects like `here`. */
  watchable(conversation: string, principal: Principal, here: () => Promise<Watchable>): Promise<Watchable>;
  activities(): Promise<ReadonlyMap<string, ConversationActivity>>;
  /** Call when the activity of a conversation on this node may have changed. */
  changed(conversation: string): void;
}
