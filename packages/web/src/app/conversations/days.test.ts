import type { ListedConversation } from "@banyan/protocol";
import { expect, it } from "vitest";
import { type ListRow, listRows } from "./days.ts";

const NOW = new Date(2026, 5, 15, 9).getTime();
const HOUR = 60 * 60 * 1_000;

function listed(id: string, hoursAgo: number): ListedConversation {
  const at = NOW - hoursAgo * HOUR;
  return { id, title: id, labels: {}, createdAt: at, updatedAt: at, running: 0, waiting: 0, unread: 0 };
}

function told(rows: readonly ListRow[]): string[] {
  return rows.map((row) => {
    if (row.type === "head") return `# ${row.name}`;
    return row.type === "entry" ? row.conversation.id : `+ ${row.count}`;
  });
}

it("W68: the list stands by days, with what is pinned first, and each time is named once", () => {
  const all = [listed("now", 0), listed("dawn", 8), listed("evening", 12), listed("week", 100), listed("old", 9_000)];
  const rows = listRows(all, { pinned: new Set(["week"]), now: NOW });
  expect(told(rows)).toEqual([
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

it("W68: archived conversations are behind a row with their number, and below it while it is open", () => {
  const all = [listed("now", 0), listed("away", 1), listed("pinned and away", 2)];
  const view = { pinned: new Set(["pinned and away"]), archived: new Set(["away", "pinned and away"]), now: NOW };
  expect(told(listRows(all, view))).toEqual(["# Today", "now", "+ 2"]);
  expect(told(listRows(all, { ...view, isArchiveOpen: true }))).toEqual([
    "# Today",
    "now",
    "+ 2",
    "away",
    "pinned and away",
  ]);
});

it("W68: ten thousand conversations are a list immediately, each of them once", () => {
  const all = Array.from({ length: 10_000 }, (_, index) => listed(String(index), index));
  const rows = listRows(all, { pinned: new Set(["9999"]), now: NOW });
  const ids = rows.flatMap((row) => (row.type === "entry" ? [row.conversation.id] : []));
  expect(new Set(ids).size).toBe(10_000);
  expect(ids).toHaveLength(10_000);
  expect(ids[0]).toBe("9999");
});
