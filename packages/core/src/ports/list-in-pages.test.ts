import fc from "fast-check";
import { expect, test } from "vitest";
import { listInPages } from "./list-in-pages.ts";

interface Listed {
  readonly id: string;
  readonly updatedAt: number;
}

/** A list that `change` reorders before each page except the first. */
function changingList(count: number, change: (items: Map<string, number>, now: number) => void) {
  const items = new Map(Array.from({ length: count }, (_, index) => [`c${index}`, index]));
  let now = count;
  let isFirst = true;
  return async (after: Listed | undefined, limit: number): Promise<Listed[]> => {
    if (!isFirst) change(items, now++);
    isFirst = false;
    const sorted = Array.from(items, ([id, updatedAt]) => ({ id, updatedAt }));
    sorted.sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1));
    const isBehind = ({ id, updatedAt }: Listed) =>
      !after || updatedAt < after.updatedAt || (updatedAt === after.updatedAt && id < after.id);
    return sorted.filter(isBehind).slice(0, limit);
  };
}

test("V2: pages of a list have every conversation once, though conversations are written between two pages", async () => {
  const moves = fc.array(fc.array(fc.nat(29), { maxLength: 6 }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(fc.nat(30), fc.integer({ min: 1, max: 8 }), moves, async (count, size, moved) => {
      const left = [...moved];
      const list = changingList(count, (items, now) => {
        for (const index of left.shift() ?? []) if (items.has(`c${index}`)) items.set(`c${index}`, now);
      });
      const pages = await Array.fromAsync(listInPages<Listed>((after) => list(after, size), size));
      const ids = pages.flat().map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.length).toBe(count);
    }),
  );
});

test("V2: an unchanged list keeps its order, and its first page may be empty", async () => {
  const list = changingList(7, () => {});
  const pages = await Array.fromAsync(listInPages<Listed>((after) => list(after, 3), 3));
  expect(pages.map((page) => page.map(({ id }) => id))).toEqual([["c6", "c5", "c4"], ["c3", "c2", "c1"], ["c0"]]);
  expect(await Array.fromAsync(listInPages<Listed>(async () => [], 3))).toEqual([[]]);
  // A server without pages.
  const all = [0, 1, 2].map((index) => ({ id: `c${index}`, updatedAt: 9 - index }));
  expect((await Array.fromAsync(listInPages<Listed>(async () => all, 3))).flat()).toEqual(all);
});
