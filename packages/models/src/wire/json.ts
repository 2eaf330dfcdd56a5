/** A parsed JSON object of which nothing is known. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/** Whether a parsed JSON value is an object. */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The text under a key; empty when there is none. */
export function textAt(record: JsonRecord, key: string): string {
  const value = record[key];
  return typeof value === "string" ? value : "";
}

/** The whole number under a key; 0 when there is none. */
export function countAt(record: JsonRecord, key: string): number {
  const value = record[key];
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
}
