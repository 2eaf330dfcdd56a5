import { type Event, StoreError } from "@banyan/core";
import { checkArguments, checkTexts, type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import type { ListQuery, OpenLogOptions, SearchOptions } from "@banyan/core/stores";

const OPEN: OptionNames<OpenLogOptions> = { create: "boolean", take: "boolean" };
const LIST: OptionNames<ListQuery> = {
  labels: "object",
  without: "list",
  conversations: "list",
  waiting: "boolean",
  after: "object",
  limit: "number",
};
const SEARCH: OptionNames<SearchOptions> = {
  limit: "number",
  labels: "object",
  without: "list",
  conversation: "string",
  signal: true,
};

/** Throws `OptionError` for an option that a store does not have (L11). */
export function checkOpenOptions(options: OpenLogOptions | undefined): void {
  refuseUnknown("store.open", options, OPEN);
}

/** Throws `OptionError` for an unknown filter. A list without the filter would have all conversations (L11). */
export function checkListQuery(query: ListQuery | undefined, owner = "store.list"): void {
  refuseUnknown(owner, query, LIST);
  checkTexts(owner, query?.labels);
}

/** Throws `OptionError` for a query that is no text, and for an option that a store does not have (L11). */
export function checkSearch(query: string, options: SearchOptions | undefined): void {
  checkArguments("store.search", { query }, { query: "string" });
  refuseUnknown("store.search", options, SEARCH);
  checkTexts("store.search", options?.labels);
}

/** Throws `StoreError` (`stale`) unless `events` have the numbers `seq + 1`, `seq + 2` and so on. */
export function checkSequence(conversation: string, seq: number, events: readonly Event[]): void {
  let expected = seq + 1;
  for (const event of events) {
    if (event.seq !== expected) {
      throw new StoreError(
        "stale",
        `Event ${event.seq} does not follow the last event of conversation ${conversation}: the next event must have number ${expected}. Open the conversation again to continue.`,
      );
    }
    expected++;
  }
}

export function notFound(conversation: string): StoreError {
  return new StoreError(
    "not-found",
    `There is no conversation "${conversation}" in this store; list the conversations to see their ids.`,
  );
}

export function logClosed(conversation: string): StoreError {
  return new StoreError(
    "stale",
    `The log of conversation ${conversation} is closed; open the conversation again to continue.`,
  );
}

/** Makes the error of an append to a file that was deleted or moved. */
export function fileGone(file: string): StoreError {
  return new StoreError(
    "unusable",
    `${file} was removed, moved or replaced while the conversation was open, so nothing more can be saved. Put the file back, or use another data folder.`,
  );
}

export function storeClosed(): StoreError {
  return new StoreError("unusable", "The store is closed; create a new store.");
}

/** The program that has a conversation open for writing. */
export interface LogWriter {
  readonly program: string;
  readonly process: number;
  readonly host: string;
  /** Time of the opening in milliseconds since 1970. */
  readonly since: number;
}

/**
 * Makes the error that a writer gets after another program has opened the conversation. `writer`: the other program, if
 * known.
 */
export function overtakenError(conversation: string, writer?: LogWriter): StoreError {
  const by = writer === undefined ? "by another program" : `by ${writerName(writer)}`;
  return new StoreError(
    "stale",
    `Conversation ${conversation} was opened ${by} and this program can no longer write to it; open the conversation again to continue here.`,
  );
}

/** Makes the error of opening a conversation that another process has open. */
export function openElsewhere(conversation: string, writer: LogWriter): StoreError {
  return new StoreError(
    "locked",
    `Conversation ${conversation} is open in ${writerName(writer)}; close the conversation there or end that process, then try again.`,
    { process: writer.process, conversation },
  );
}

/** Makes the error of opening a conversation that this process has open already. */
export function openHere(conversation: string): StoreError {
  // biome-ignore lint/correctness/noProcessGlobal: used only where it exists; an import would fail elsewhere.
  const id = globalThis.process?.pid;
  const place = id === undefined ? "here" : `in this process (${id})`;
  return new StoreError(
    "locked",
    `Conversation ${conversation} is already open ${place}; close the open conversation, then try again.`,
  );
}

function writerName({ program, process, host, since }: LogWriter): string {
  const time = new Date(since).toLocaleString("sv-SE", { dateStyle: "short", timeStyle: "short" });
  return `${program} (process ${process} on ${host}, since ${time})`;
}
