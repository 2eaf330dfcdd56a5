import type { Cursor, Message } from "@banyan/core";
import type { Command } from "@banyan/protocol";
import type { DeskCommand, Outcome } from "../request/command.ts";
import type { Principal } from "../request/principal.ts";
import type { Viewer } from "./frame.ts";
import type { Line } from "./subscription.ts";

/** A client's subscription to the feed of a conversation. */
export interface Watching {
  end(): void;
}

/** A conversation that clients can watch, on this node or on another. */
export interface Watchable {
  subscribe(line: Line, from?: Cursor, leaf?: string): Promise<Watching>;
  unsubscribe(watching: Watching): void;
  /** See `LiveConversation.read`. */
  read(
    messages: readonly string[],
    viewer: Viewer,
    watching: Watching | undefined,
    answer: (found: { readonly messages: readonly Message[]; readonly unknown: readonly string[] }) => void,
  ): Promise<void>;
  /** Sends everything that has happened so far to all clients that are in step. */
  flush(): void;
}

/** The activity of a conversation: how many runs, and how many questions that wait for a user. */
export interface Activity {
  readonly running: number;
  readonly waiting: number;
}

/** Finds conversations that are open on other nodes. */
export interface Elsewhere {
  /** Carries out a command on the node that has its conversation open; here by `Performer.performHere`. Never rejects. */
  perform(command: Command<DeskCommand>, principal: Principal): Promise<Outcome>;
  /** Returns a conversation to watch, on the node that has it open; here by `here`. Rejects like `here`. */
  watchable(conversation: string, principal: Principal, here: () => Promise<Watchable>): Promise<Watchable>;
  /** The activity of conversations that are open on other nodes. Idle conversations may be missing. */
  activities(): Promise<ReadonlyMap<string, Activity>>;
  /** Reports that the activity of a conversation on this node may have changed. */
  changed(conversation: string): void;
}
