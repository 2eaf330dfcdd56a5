import { crc32 } from "node:zlib";
import type { Event } from "@banyan/core";

/** The columns of `events`, in order. */
export type EventRow = readonly [seq: number, epoch: number, at: number, type: string, body: string, crc: number];

/**
 * Converts an event to a row. `body` is the JSON of the fields without a column. JSON escapes lone surrogates and NUL,
 * so that SQLite's UTF-8 can store them. SQLite has no checksums, so `crc` covers the whole row: an intact row is
 * exactly the row that was written.
 */
export function eventRow(event: Event): EventRow {
  const { seq, epoch, at, type, ...rest } = event;
  const body = JSON.stringify(rest);
  return [seq, epoch, at, type, body, checksum(seq, epoch, at, type, body)];
}

/** Converts an SQLite row to its event; undefined if the row is damaged. */
export function eventOf(row: readonly unknown[]): Event | undefined {
  const [seq, epoch, at, type, body, crc] = row;
  if (typeof seq !== "number" || typeof body !== "string") return undefined;
  if (crc !== checksum(seq, epoch, at, type, body)) return undefined;
  try {
    const event = JSON.parse(body);
    if (typeof event !== "object" || event === null || Array.isArray(event)) return undefined;
    // Modify in place: a copy with spread syntax costs as much as parsing.
    event.seq = seq;
    event.epoch = epoch;
    event.at = at;
    event.type = type;
    return event;
  } catch {
    // Not JSON: the caller treats the row like any other damaged row.
    return undefined;
  }
}

function checksum(seq: number, epoch: unknown, at: unknown, type: unknown, body: string): number {
  return crc32(body, crc32(`${seq} ${epoch} ${at} ${type}`));
}
