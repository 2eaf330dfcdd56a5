import assert from "node:assert/strict";
import type { Event, EventBody } from "../../conversation/event.ts";
import { createId } from "../../conversation/id.ts";
import { type Log, type LogView, type Store, StoreError, type StoreErrorCode } from "../../ports/store.ts";

/** Checks one requirement of a store. `reopen` closes the store and opens its data again. */
export type Check = (store: Store, reopen: (() => Promise<Store>) | undefined) => Promise<void>;

export type Checks = Readonly<Record<string, Check>>;

export const ID = "01k0000000conformance00001";
export const OTHER = "01k0000000conformance00002";
export const NOW = 1_750_000_000_000;

export function create(store: Store, id = createId()): Promise<Log> {
  return store.open(id, { create: true });
}

/** Returns the events of a conversation with these texts, one millisecond apart. */
export function conversation(
  log: Log,
  lines: readonly string[],
  options: { readonly labels?: Readonly<Record<string, string>>; readonly at?: number; readonly id?: string } = {},
): Event[] {
  const { id = ID, labels = {} } = options;
  const created = at(log, 1, { type: "conversation.created", id, labels }, options.at);
  return [created, ...lines.map((text, index) => said(log, index + 2, text, options.at))];
}

function said(log: Log, seq: number, text: string, start = NOW): Event {
  const parentId = seq === 2 ? null : `m${seq - 1}`;
  const body: EventBody = {
    type: "message.added",
    message: `m${seq}`,
    parentId,
    role: "user",
    parts: [{ type: "text", text }],
  };
  return at(log, seq, body, start + seq - 1);
}

export function at(log: Log, seq: number, body: EventBody, time = NOW): Event {
  return { ...body, seq, epoch: log.epoch, at: time };
}

export function texts(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `text ${index}`);
}

export async function readAll(log: LogView, after?: number): Promise<Event[]> {
  const events: Event[] = [];
  for await (const batch of log.read(after)) for (const event of batch) events.push(event);
  return events;
}

export async function listed(store: Store, query?: Parameters<Store["list"]>[0]): Promise<string[]> {
  return (await store.list(query)).map((summary) => summary.id);
}

/** `code`: the expected code; `undefined`: any. */
export async function refused(code: StoreErrorCode | undefined, attempt: () => unknown): Promise<void> {
  const outcome = await Promise.resolve()
    .then(attempt)
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  assert.ok(outcome instanceof StoreError, `a StoreError was due, not ${String(outcome)}`);
  if (code !== undefined) assert.equal(outcome.code, code);
  assert.ok(outcome.message.length > 20, "the message is a sentence");
}
