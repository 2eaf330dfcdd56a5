import { crc32 } from "node:zlib";
import type { Event } from "@banyan/core";

/** The columns of `events`, in this order. */
export type Row = readonly [seq: number, epoch: number, at: number, type: string, body: string, crc: number];

/**
 * The row of an event. `body` is the JSON of what has no column of its own; JSON writes lone surrogates and NUL as
 * escapes, so that the UTF-8 of SQLite can hold all of Unicode. SQLite has no checksums of its own: `crc` covers
 * the whole row, so that a row that reads back is the row that was written.
 */
export function rowOf(event: Event): Row {
  const { seq, epoch, at, type, ...rest } = event;
  const body = JSON.stringify(rest);
  return [seq, epoch, at, type, body, checksum(seq, epoch, at, type, body)];
}

/** The event in a row as SQLite gives it; `undefined` when the row is not what was written. */
export function eventOf(row: readonly unknown[]): Event | undefined {
  const [seq, epoch, at, type, body, crc] = row;
  if (typeof seq !== "number" || typeof body !== "string") return undefined;
  if (crc !== checksum(seq, epoch, at, type, body)) return undefined;
  try {
    const event = JSON.parse(body);
    if (typeof event !== "object" || event === null || Array.isArray(event)) return undefined;
    // In place: a copy by spreading costs as much as parsing does.
    event.seq = seq;
    event.epoch = epoch;
    event.at = at;
    event.type = type;
    return event;
  } catch {
    // Not JSON: the reader is told of it as of any other damaged row.
    return undefined;
  }
}

function checksum(seq: number, epoch: unknown, at: unknown, type: unknown, body: string): number {
  return crc32(body, crc32(`${seq} ${epoch} ${at} ${type}`));
}
