import type { ListedConversation } from "@banyan/protocol";
import { expect, test } from "vitest";
import type { ClientFrame } from "./frame.ts";
import { ListWatch } from "./list-watch.ts";

test("F74: watchers of the list are told what changed, or the whole list when any conversation may have changed", async () => {
  const listed = ["a", "b"].map((id): ListedConversation => {
    return { id, title: id, labels: {}, createdAt: 1, updatedAt: 1, running: 0, waiting: 1, unread: 0 };
  });
  const frames: ClientFrame["told"][] = [];
  const watch = new ListWatch(
    async () => listed,
    (error) => {
      throw error;
    },
  );
  watch.add({ send: ({ told }) => frames.push(told) });
  watch.changed("b");
  watch.changed("gone");
  await expect.poll(() => frames).toEqual([{ type: "conversations", changed: [listed[1]], removed: ["gone"] }]);
  watch.changed();
  watch.changed("gone");
  await expect.poll(() => frames.slice(1)).toEqual([{ type: "conversations", changed: listed, removed: ["gone"] }]);
  watch[Symbol.dispose]();
});
