import { type Event, StoreError } from "@banyan/core";

/** Throws `stale` unless the events go on from `seq` without gap or repeat. */
export function checkSequence(conversation: string, seq: number, events: readonly Event[]): void {
  let expected = seq + 1;
  for (const event of events) {
    if (event.seq !== expected) {
      throw new StoreError(
        "stale",
        `Event ${event.seq} does not go on from the log of conversation ${conversation}, where ${expected} is next; open it again to go on from there.`,
      );
    }
    expected++;
  }
}

export function notFound(conversation: string): StoreError {
  return new StoreError(
    "not-found",
    `There is no conversation "${conversation}" here; list the conversations to see which there are.`,
  );
}

export function logClosed(conversation: string): StoreError {
  return new StoreError("stale", `The log of conversation ${conversation} is closed; open it again to go on.`);
}

export function storeClosed(): StoreError {
  return new StoreError("unusable", "The store is closed; make a new one.");
}

/** `owner`: who writes to the conversation now, when that is known. */
export function overtaken(conversation: string, owner?: string): StoreError {
  const by = owner === undefined ? "elsewhere" : `by ${owner}`;
  return new StoreError(
    "stale",
    `Conversation ${conversation} was opened ${by} and is written there now; open it again to take it back.`,
  );
}
