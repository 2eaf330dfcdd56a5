import { DatabaseSync } from "node:sqlite";
import type { DurableStorage } from "./database.ts";

/** The most bytes of a text, as in https://developers.cloudflare.com/durable-objects/platform/limits/. */
const LONGEST = 2_000_000;

/** The storage of a Durable Object on Node's SQLite, with the limits of Cloudflare. */
export interface TestStorage extends DurableStorage {
  readonly database: DatabaseSync;
  /** The statements so far. */
  readonly statements: string[];
  /** The number of flushes so far. */
  flushes: number;
}

export function testStorage(): TestStorage {
  const database = new DatabaseSync(":memory:");
  const statements: string[] = [];
  return {
    database,
    statements,
    flushes: 0,
    sql: {
      exec(query, ...values) {
        if (/^\s*(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|PRAGMA)\b/i.test(query)) throw new Error(`not authorized: ${query}`);
        for (const value of values) {
          if (typeof value === "string" && Buffer.byteLength(value) > LONGEST)
            throw new Error("string or blob too big: SQLITE_TOOBIG");
        }
        statements.push(query);
        const statement = database.prepare(query);
        statement.setReturnArrays(true);
        const rows = statement.all(...values) as unknown as unknown[][];
        return { raw: () => rows };
      },
    },
    transactionSync(body) {
      database.exec("BEGIN");
      try {
        const result = body();
        database.exec("COMMIT");
        return result;
      } catch (error) {
        database.exec("ROLLBACK");
        throw error;
      }
    },
    async sync() {
      this.flushes++;
    },
  };
}
