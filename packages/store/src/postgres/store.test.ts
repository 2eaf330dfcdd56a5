import type { Store } from "@banyan/core";
import { storeConformance } from "@banyan/core/testing";
import { afterAll, test } from "vitest";
import { postgresStore } from "./index.ts";
import { describeWithPostgres, ownDatabase } from "./store.fixture.ts";

describeWithPostgres("the PostgreSQL store keeps the contract of stores", () => {
  const database = ownDatabase();
  const opened: Store[] = [];
  // Some cases leave stores open, and an open connection would keep the test process running.
  afterAll(async () => {
    await Promise.allSettled(opened.map((store) => store.close()));
  });
  let schemas = 0;
  const make = async () => {
    const url = await database.url();
    const schema = `case ${++schemas}`;
    const open = () => {
      const store = postgresStore(url, { schema });
      opened.push(store);
      return store;
    };
    return { store: open(), reopen: async () => open() };
  };
  for (const { name, run } of storeConformance(make)) test(name, run);
});
