import type { ListQuery } from "@banyan/core/stores";
import type { ListedConversation } from "@banyan/protocol";
import { expect, test, vi } from "vitest";
import type { ClientFrame } from "./frame.ts";
import { ListWatch } from "./list-watch.ts";

test("F74: watchers of the list get the changes, or the whole list if any conversation may have changed", async () => {
  const listed = Array.from({ length: 700 }, (_, index): ListedConversation => {
    const id = `c${index}`;
    return { id, title: id, labels: {}, createdAt: 1, updatedAt: 1_000 - index, running: 0, waiting: 1, unread: 0 };
  });
  const frames: ClientFrame["told"][] = [];
  const watch = new ListWatch({
    list: async ({ conversations, after, limit }: ListQuery) => {
      if (conversations) return listed.filter(({ id }) => conversations.includes(id));
      const from = after ? listed.findIndex(({ id }) => id === after.id) + 1 : 0;
      return listed.slice(from, from + (limit ?? listed.length));
    },
    defect: (error) => {
      throw error;
    },
  });
  watch.add({ send: ({ told }) => frames.push(told) });
  watch.changed("c1");
  watch.changed("gone");
  await expect.poll(() => frames).toEqual([{ type: "conversations", changed: [listed[1]], removed: ["gone"] }]);
  watch.changed();
  watch.changed("gone");
  await expect
    .poll(() => frames.slice(1))
    .toEqual([
      { type: "conversations", changed: listed.slice(0, 500), removed: [] },
      { type: "conversations", changed: listed.slice(500), removed: [] },
      { type: "conversations", changed: [], removed: ["gone"] },
    ]);
  watch[Symbol.dispose]();
});

test("V2: conversations that other processes change reach the watchers of the list, only while there are watchers", async () => {
  const frames: ClientFrame["told"][] = [];
  const hearing = new Set<(conversations: readonly string[]) => void>();
  const watch = new ListWatch({
    list: async () => [],
    watch: (changed) => {
      hearing.add(changed);
      return () => hearing.delete(changed);
    },
    defect: (error) => {
      throw error;
    },
  });
  const watcher = { send: ({ told }: ClientFrame) => void frames.push(told) };
  expect(hearing.size).toBe(0);
  watch.add(watcher);
  for (const changed of hearing) changed(["theirs"]);
  await expect.poll(() => frames).toEqual([{ type: "conversations", changed: [], removed: ["theirs"] }]);
  watch.remove(watcher);
  expect(hearing.size).toBe(0);
});

test("V2: changes that cannot be listed now reach the watchers later", async () => {
  const frames: ClientFrame["told"][] = [];
  let failures = 2;
  const watch = new ListWatch({
    list: async () => {
      if (failures-- > 0) throw new Error("The database restarts.");
      return [];
    },
    defect: (error) => {
      throw error;
    },
  });
  watch.add({ send: ({ told }) => void frames.push(told) });
  vi.useFakeTimers();
  try {
    watch.changed("theirs");
    await vi.advanceTimersByTimeAsync(300);
    watch.changed("other");
    await vi.advanceTimersByTimeAsync(10_000);
    expect(frames).toEqual([{ type: "conversations", changed: [], removed: ["theirs", "other"] }]);
  } finally {
    watch[Symbol.dispose]();
    vi.useRealTimers();
  }
});

test("V2: after its desk has stopped, a list watch starts no timer and watches no store", async () => {
  let watches = 0;
  let lists = 0;
  const listing = Promise.withResolvers<never>();
  const watch = new ListWatch({
    list: () => {
      lists++;
      return listing.promise;
    },
    watch: () => {
      watches++;
      return () => watches--;
    },
    defect: (error) => {
      throw error;
    },
  });
  vi.useFakeTimers();
  try {
    watch.add({ send: () => {} });
    watch.changed("one");
    await vi.advanceTimersByTimeAsync(300);
    watch.changed("two");
    watch[Symbol.dispose]();
    listing.reject(new Error("The store is closed."));
    watch.add({ send: () => {} });
    watch.changed("three");
    await vi.advanceTimersByTimeAsync(10_000);
    expect([lists, watches, vi.getTimerCount()]).toEqual([1, 0, 0]);
  } finally {
    vi.useRealTimers();
  }
});
