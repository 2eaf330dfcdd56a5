import { type Event, StoreError } from "@banyan/core";

/** Throws `stale` unless the events continue after `seq` without gap or repetition. */
export function checkSequence(conversation: string, seq: number, events: readonly Event[]): void {
  let expected = seq + 1;
  for (const event of events) {
    if (event.seq !== expected) {
      throw new StoreError(
        "stale",
        `Event ${event.seq} does not follow the log of conversation ${conversation}, where ${expected} is next; open it again to continue from there.`,
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
  return new StoreError("stale", `The log of conversation ${conversation} is closed; open it again to continue.`);
}

/** Refuses an append, because events would go to a deleted file. */
export function fileGone(file: string): StoreError {
  return new StoreError(
    "unusable",
    `${file} was removed, moved or replaced while it was open, so nothing can be kept any more; put it back, or start again in another data folder.`,
  );
}

export function storeClosed(): StoreError {
  return new StoreError("unusable", "The store is closed; make a new one.");
}

/** The writer of a conversation. */
export interface LogWriter {
  readonly program: string;
  readonly process: number;
  readonly host: string;
  /** In milliseconds since 1970. */
  readonly since: number;
}

/** `writer` is the current writer of the conversation, if known. */
export function overtakenError(conversation: string, writer?: LogWriter): StoreError {
  const by = writer === undefined ? "elsewhere" : `by ${writerName(writer)}`;
  return new StoreError(
    "stale",
    `Conversation ${conversation} was opened ${by} and is written there now; open it again to take it back.`,
  );
}

/** Refuses to open a conversation that another process has open. */
export function openElsewhere(conversation: string, writer: LogWriter): StoreError {
  return new StoreError(
    "locked",
    `Conversation ${conversation} is open in ${writerName(writer)}; close it there, or end that process, and try again.`,
    { process: writer.process, conversation },
  );
}

/** Refuses to open a conversation that this store has open. */
export function openHere(conversation: string): StoreError {
  return new StoreError(
    "locked",
    `Conversation ${conversation} is open in this process (${process.pid}) already; close it there, and try again.`,
  );
}

function writerName({ program, process, host, since }: LogWriter): string {
  const time = new Date(since).toLocaleString("sv-SE", { dateStyle: "short", timeStyle: "short" });
  return `${program} (process ${process} on ${host}, since ${time})`;
}
