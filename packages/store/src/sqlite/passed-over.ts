import type { DatabaseSync } from "node:sqlite";

/** The events that were lost with the file before this one: whoever opened that has been told. */
export function passedOver(database: DatabaseSync): ReadonlySet<number> {
  const numbers = new Set<number>();
  const table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'passed_over'";
  if (!database.prepare(table).get()) return numbers;
  for (const { seq } of database.prepare("SELECT seq FROM passed_over").iterate()) numbers.add(Number(seq));
  return numbers;
}

/** Writes them into a file that takes the place of another. */
export function keepPassedOver(database: DatabaseSync, numbers: Iterable<number>): void {
  database.exec("CREATE TABLE passed_over (seq INTEGER PRIMARY KEY) STRICT");
  const insert = database.prepare("INSERT OR IGNORE INTO passed_over VALUES (?)");
  for (const seq of numbers) insert.run(seq);
}
