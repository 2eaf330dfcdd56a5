import type { Store } from "../ports/store.ts";
import type { Checks } from "./store-cases/case.ts";
import { idCases } from "./store-cases/ids.ts";
import { listCases } from "./store-cases/list.ts";
import { logCases } from "./store-cases/log.ts";
import { rightsCases } from "./store-cases/rights.ts";
import { searchCases } from "./store-cases/search.ts";
import { writerCases } from "./store-cases/writer.ts";

/** A store to be tested, empty and owned by one case. */
export interface StoreUnderTest {
  readonly store: Store;
  /** Opens what `store` kept a second time, after `store` was closed. Absent when it keeps nothing beyond its life. */
  reopen?(): Promise<Store>;
  /** Removes what was made; the stores are closed by then. */
  cleanUp?(): Promise<void>;
}

/** One thing that a store must do. `run` rejects when it does not. */
export interface ConformanceCase {
  readonly name: string;
  run(): Promise<void>;
}

/**
 * What every `Store` must do, for any test runner:
 * `for (const { name, run } of storeConformance(make)) test(name, run);`
 *
 * `make` is called once for each case. Cases that are about reopening pass when `make` gives no `reopen`.
 */
export function storeConformance(make: () => Promise<StoreUnderTest>): readonly ConformanceCase[] {
  return Object.entries(cases).map(([name, check]) => ({
    name,
    async run() {
      const subject = await make();
      const stores = [subject.store];
      const reopen = subject.reopen?.bind(subject);
      try {
        await check(
          subject.store,
          reopen &&
            (async () => {
              await stores.at(-1)?.close();
              const store = await reopen();
              stores.push(store);
              return store;
            }),
        );
      } finally {
        for (const store of stores) await store.close();
        await subject.cleanUp?.();
      }
    },
  }));
}

const cases: Checks = { ...logCases, ...writerCases, ...listCases, ...searchCases, ...rightsCases, ...idCases };
