import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { isDamage, sqliteStoreError } from "./error.ts";

/** The error as Deno reports it: without the number of the result code. */
function withoutNumber({ message }: Error): Error {
  return Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR" });
}

function errorOf(...statements: readonly string[]): Error {
  const database = new DatabaseSync(":memory:");
  try {
    for (const sql of statements) database.exec(sql);
  } catch (error) {
    return error as Error;
  }
  throw new Error("No statement failed.");
}

const errors = [
  ["a missing table", errorOf("SELECT * FROM missing")],
  ["a missing column", errorOf("CREATE TABLE t (a)", "SELECT b FROM t")],
  ["a conflict", errorOf("CREATE TABLE t (a UNIQUE)", "INSERT INTO t VALUES (1), (1)")],
  ["a text that is too big", errorOf("SELECT zeroblob(2000000000)")],
] as const;

test.each(errors)("L8: an error without its number has the same code: %s", (_, error) => {
  expect(sqliteStoreError(withoutNumber(error), "f").code).toBe(sqliteStoreError(error, "f").code);
  expect(isDamage(withoutNumber(error))).toBe(isDamage(error));
});

test.each([
  ["database is locked", "locked"],
  ["database disk image is malformed", "damaged"],
  ["file is not a database", "damaged"],
  ["database or disk is full", "full"],
])("L8: an error without its number has a code: %s", (message, code) => {
  expect(sqliteStoreError(withoutNumber(new Error(message)), "f").code).toBe(code);
});
