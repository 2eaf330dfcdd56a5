import type { JsonRecord } from "@banyan/core/shown";

/** Returns the text at a key, or an empty text if there is none. */
export function textAt(record: JsonRecord, key: string): string {
  const value = record[key];
  return typeof value === "string" ? value : "";
}

/** Returns the number at a key as a positive integer, rounded, or 0 if there is none. */
export function countAt(record: JsonRecord, key: string): number {
  const value = record[key];
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
}
