import { storeConformance } from "@banyan/core/testing";
import { describe, expect, test } from "vitest";
import { memoryStore } from "./index.ts";

describe("the memory store keeps the contract of stores", () => {
  for (const { name, run } of storeConformance(async () => ({ store: memoryStore() }))) test(name, run);
});

test("an append is done at once, without a promise", async () => {
  const log = await memoryStore().open("01k00000000000000000000000", { create: true });
  const event = { type: "model.changed", model: "a/b", seq: 1, epoch: log.epoch, at: 1 } as const;
  expect(log.append([event], { durable: true })).toBeUndefined();
  expect(log.seq).toBe(1);
});
