import type { ListQuery } from "@banyan/core/stores";
import type { ListedConversation } from "@banyan/protocol";
import { expect, test } from "vitest";
import type { ClientFrame } from "./frame.ts";
import { ListWatch } from "./list-watch.ts";

test("F74: watchers of the list are told what changed, or the whole list when any conversation may have changed", async () => {
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
