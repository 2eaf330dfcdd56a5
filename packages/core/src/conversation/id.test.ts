import { expect, test } from "vitest";
import { createId, idSource } from "./id.ts";

test("F6: ids are unique and sort by time of creation", () => {
  const ids = Array.from({ length: 20_000 }, createId);
  expect(new Set(ids).size).toBe(ids.length);
  expect([...ids].sort()).toEqual(ids);
  expect(ids[0]).toMatch(/^[0-9a-z]{26}$/);
});

test("ids keep growing when the clock goes backwards", () => {
  const times = [5_000, 5_000, 4_000, 4_001, 6_000];
  const next = idSource(() => times.shift() ?? 0);
  const ids = [next(), next(), next(), next(), next()];
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(5);
});
