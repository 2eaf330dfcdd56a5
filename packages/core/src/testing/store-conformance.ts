import { checkArguments } from "../conversation/option-names.ts";
import type { Store } from "../ports/store.ts";
import type { Checks } from "./store-cases/case.ts";
import { idCases } from "./store-cases/ids.ts";
import { listCases } from "./store-cases/list.ts";
import { logCases } from "./store-cases/log.ts";
import { rightsCases } from "./store-cases/rights.ts";
import { searchCases } from "./store-cases/search.ts";
import { writerCases } from "./store-cases/writer.ts";

/** A store for one test case, empty and used by no other case. See {@link storeConformance}. */
export interface StoreUnderTest {
  readonly store: Store;
  /** Closes `store` and opens its data again. Absent: the store keeps no data after it is closed. */
  reopen?(): Promise<Store>;
  /** Removes all test data, after the stores are closed. */
  cleanUp?(): Promise<void>;
}

/**
 * One requirement of a store. `run` rejects if the store does not meet the requirement. See {@link storeConformance}.
 */
export interface ConformanceCase {
  readonly name: string;
  run(): Promise<void>;
}

/**
 * Returns the requirements of every `Store`, for any test runner. `make` is called once per case. Cases about reopening
 * pass if `make` returns no `reopen`.
 * @example for (const { name, run } of storeConformance(async () => ({ store: memoryStore() }))) test(name, run);
 */
export function storeConformance(make: () => Promise<StoreUnderTest>): readonly ConformanceCase[] {
  checkArguments("storeConformance", { make }, { make: "function" });
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
