import type { Cursor, Message } from "@banyan/core";
import type { Command } from "@banyan/protocol";
import { messageSize } from "@banyan/protocol/values";
import type { CommandOutcome, DeskCommand } from "../request/command.ts";
import type { Principal } from "../request/principal.ts";
import type { FeedViewer } from "./frame.ts";
import type { ClientConnection } from "./subscription.ts";

/** Maximum number of UTF-16 units of messages in one answer; a single larger message is still sent. */
const READ_AT_ONCE = 1024 * 1024;

/** Messages for one answer, and the ids of those that do not exist. The client asks again for the rest. */
export interface FoundMessages {
  readonly messages: readonly Message[];
  readonly unknown: readonly string[];
}

/** Finds messages by their ids, as many as one answer may have. */
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
    answer: (found: FoundMessages) => void,
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
