import type { Event } from "@banyan/core";
import { crc32 } from "./crc32.ts";

/** A row of the table `events`. */
export type EventRow = readonly [seq: number, epoch: number, at: number, type: string, body: string, crc: number];

/** Converts an event to a row. Fields without a column are stored as JSON in `body`. `crc` is a checksum of the row. */
export function eventRow(event: Event): EventRow {
  const { seq, epoch, at, type, ...rest } = event;
  const body = JSON.stringify(rest);
  return [seq, epoch, at, type, body, checksum(seq, epoch, at, type, body)];
}

/** Converts a row of SQLite to its event. Returns `undefined` for a damaged row. */
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
    return undefined;
  }
}

function checksum(seq: number, epoch: unknown, at: unknown, type: unknown, body: string): number {
  return crc32(body, crc32(`${seq} ${epoch} ${at} ${type}`));
}
