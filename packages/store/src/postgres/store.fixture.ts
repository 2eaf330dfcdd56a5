import type { Store } from "@banyan/core";
import { afterAll, describe, onTestFinished } from "vitest";
import { testDatabase, whyNoPostgres } from "../testing/postgres-server.fixture.ts";
import { type Wire, wireTo } from "../testing/wire.fixture.ts";
import { type PostgresStoreOptions, postgresStore } from "./index.ts";

/** Groups tests that need a database. Without a database, the title names the reason for skipping. */
export function describeWithPostgres(title: string, body: () => void): void {
  const why = whyNoPostgres === undefined ? "" : ` (skipped: ${whyNoPostgres})`;
  describe.skipIf(whyNoPostgres !== undefined)(`${title}${why}`, body);
}

/** A database for the tests of one file. */
export function ownDatabase(): { url(): Promise<string> } {
  const database = testDatabase();
  afterAll(async () => (await database).remove());
  return { url: async () => (await database).url };
}

/** Opens a store that is closed when the test ends. */
export function storeAt(url: string, options: PostgresStoreOptions = {}): Store {
  const store = postgresStore(url, options);
  onTestFinished(() => store.close());
  return store;
}

/** Puts a controllable wire between a store and its database, until the test ends. */
export async function wireToDatabase(url: string): Promise<{ readonly wire: Wire; readonly url: string }> {
  const wire = await wireTo(() => Number(new URL(url).port));
  onTestFinished(() => wire[Symbol.dispose]());
  return { wire, url: wire.via(url) };
}
