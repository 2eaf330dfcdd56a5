import type { Cursor, Message } from "@banyan/core";
import type { Command } from "@banyan/protocol";
import type { DeskCommand } from "./commands/workplace.ts";
import type { Viewer } from "./live/frame.ts";
import type { Line } from "./live/subscription.ts";
import type { Outcome } from "./perform.ts";
import type { Principal } from "./principal.ts";

/** A client's way through the feed of a conversation, as its conversation knows it. */
export interface Watching {
  end(): void;
}

/** A conversation as whoever watches it needs it, wherever it is open. */
export interface Watchable {
  subscribe(line: Line, from?: Cursor, leaf?: string): Promise<Watching>;
  unsubscribe(watching: Watching): void;
  /** As `LiveConversation.read`. */
  read(
    messages: readonly string[],
    viewer: Viewer,
    watching: Watching | undefined,
    answer: (found: { readonly messages: readonly Message[]; readonly unknown: readonly string[] }) => void,
  ): Promise<void>;
  /** Everybody who is in step has everything that happened so far. */
  flush(): void;
}

/** What goes on in a conversation: how many runs, and how many questions that wait for a person. */
export interface Activity {
  readonly running: number;
  readonly waiting: number;
}

/** Where conversations may be open on other nodes than this one: what a desk asks then. */
export interface Elsewhere {
  /** Carries out a command where its conversation is open: here (`Performer.performHere`), or there. Never rejects. */
  perform(command: Command<DeskCommand>, principal: Principal): Promise<Outcome>;
  /** A conversation to be watched where it is open: as `here` has it, or there. May reject as `here` does. */
  watchable(conversation: string, principal: Principal, here: () => Promise<Watchable>): Promise<Watchable>;
  /** What goes on in those that are open on other nodes; those in which nothing does may be left out. */
  activities(): Promise<ReadonlyMap<string, Activity>>;
  /** What goes on in one that is open here may have changed. */
  changed(conversation: string): void;
}
