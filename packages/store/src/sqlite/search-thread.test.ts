import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Worker, WorkerOptions } from "node:worker_threads";
import { beforeEach, expect, test, vi } from "vitest";
import { ID, OTHER, storeIn, temporaryDirectory, write } from "./store.fixture.ts";

const threads = vi.hoisted(() => ({ all: [] as Worker[], broken: "" }));

vi.mock("node:worker_threads", async (original) => {
  const real = await original<typeof import("node:worker_threads")>();
  class ObservedWorker extends real.Worker {
    constructor(file: URL, options: WorkerOptions) {
      if (threads.broken === "no permission") throw new Error("Threads are not permitted.");
      super(threads.broken === "no file" ? new URL("./no-such-file.ts", file) : file, options);
      threads.all.push(this);
    }
  }
  return { ...real, Worker: ObservedWorker };
});

beforeEach(() => {
  threads.all.length = 0;
  threads.broken = "";
});

/** A store with two conversations. */
async function filledStore() {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  await write(store, ID, 3);
  await write(store, OTHER, 2);
  return { directory, store };
}

test("V2: a search right after its thread failed has hits, though the failed thread ends only later", async () => {
  const { store } = await filledStore();
  expect(await store.search("message 2")).toHaveLength(2);
  const lost = store.search("message 2");
  threads.all[0]?.emit("error", new Error("out of memory"));
  await expect(lost).rejects.toMatchObject({ code: "unusable", message: expect.stringContaining("out of memory") });
  const next = store.search("message 2");
  await threads.all[0]?.terminate();
  expect(await next).toHaveLength(2);
  expect(threads.all).toHaveLength(2);
});

test.each(["no permission", "no file"])(
  "V2: with %s for a thread, searches, their cancelling and removals work in this one",
  async (broken) => {
    threads.broken = broken;
    const { store, directory } = await filledStore();
    expect(await store.search("message 2")).toHaveLength(2);
    const controller = new AbortController();
    const cancelled = store.search("message 2", { signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(cancelled).rejects.toThrow("enough");
    await store.remove(ID);
    expect((await store.search("message 2")).map(({ conversation }) => conversation)).toEqual([OTHER]);
    await store.close();
    expect(readFileSync(join(directory, "catalogue.sqlite")).includes(ID)).toBe(false);
  },
);

test("V2: a store that closes during a removal completes the removal, and ends searches", async () => {
  const { store, directory } = await filledStore();
  expect(await store.search("message 2")).toHaveLength(2);
  const removed = store.remove(ID);
  const search = store.search("message 2");
  const outcomes = Promise.allSettled([removed, search]);
  await store.close();
  expect(await outcomes).toMatchObject([{ status: "fulfilled" }, { reason: { code: "unusable" } }]);
  expect(readFileSync(join(directory, "catalogue.sqlite")).includes(ID)).toBe(false);
});
