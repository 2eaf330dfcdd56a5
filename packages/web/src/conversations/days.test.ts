import type { ListedConversation } from "@banyan/protocol";
import { expect, it } from "vitest";
import { listRows } from "./days.ts";

const NOW = new Date(2026, 5, 15, 9).getTime();
const HOUR = 60 * 60 * 1_000;

function listed(id: string, hoursAgo: number): ListedConversation {
  const at = NOW - hoursAgo * HOUR;
  return { id, title: id, labels: {}, createdAt: at, updatedAt: at, running: 0, waiting: 0, unread: 0 };
}

it("W68: the list stands by days, with what is pinned first, and each time is named once", () => {
  const all = [listed("now", 0), listed("dawn", 8), listed("evening", 12), listed("week", 100), listed("old", 9_000)];
  const rows = listRows(all, { pinned: new Set(["week"]), now: NOW });
  expect(rows.map((row) => (row.type === "head" ? `# ${row.name}` : row.conversation.id))).toEqual([
    "# Pinned",
    "week",
    "# Today",
    "now",
    "dawn",
    "# Yesterday",
    "evening",
    expect.stringMatching(/^# \S+ 2025$/),
    "old",
  ]);
});

it("W68: ten thousand conversations are a list at once, of which each is in it once", () => {
  const all = Array.from({ length: 10_000 }, (_, index) => listed(String(index), index));
  const rows = listRows(all, { pinned: new Set(["9999"]), now: NOW });
  const ids = rows.flatMap((row) => (row.type === "entry" ? [row.conversation.id] : []));
  expect(new Set(ids).size).toBe(10_000);
  expect(ids).toHaveLength(10_000);
  expect(ids[0]).toBe("9999");
});
