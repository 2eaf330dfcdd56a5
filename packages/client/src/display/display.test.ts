import { readFileSync } from "node:fs";
import type { FeedItem } from "@banyan/core/conversation";
import fc from "fast-check";
import { expect, test } from "vitest";
import { displayItem, displaySentence } from "./display-item.ts";
import { itemSentence } from "./item-sentence.ts";
import { TurnReader } from "./turn-reader.ts";
import { WrittenParts } from "./written-parts.ts";

const feeds: readonly { readonly name: string; readonly items: readonly FeedItem[] }[] = readFileSync(
  new URL("../../../../scripts/recordings/feeds.jsonl", import.meta.url),
  "utf8",
)
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line));
const items = feeds.flatMap((feed) => feed.items);

test("F37: a feed with every type of item gives each of the 19 kinds of display items", () => {
  const kinds = new Set(items.map((item) => displayItem(item)?.type));
  kinds.delete(undefined);
  expect([...kinds].toSorted()).toEqual(
    [
      ...["answer", "call", "call-draft", "call-end", "call-input", "call-output", "delivery", "file-change", "memory"],
      ...["message", "message-discard", "message-end", "message-start", "notice", "process", "question"],
      ...["run-end", "run-start", "text"],
    ].toSorted(),
  );
});

test("F37: no sentence about an item is lost on the way to its display item", () => {
  for (const item of items) {
    const display = displayItem(item);
    expect(display && displaySentence(display), item.type).toBe(itemSentence(item));
  }
});

test("a display item leaves the item of the feed as it was", () => {
  const before = JSON.stringify(items);
  for (const item of items) displayItem(item);
  expect(JSON.stringify(items)).toBe(before);
});

test("F20: a part that is repeated from any earlier place is written once", () => {
  const cuts = fc.array(fc.tuple(fc.nat(12), fc.nat(12)), { maxLength: 8 });
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 12 }), cuts, (text, pieces) => {
      const written = new WrittenParts();
      written.begin("m");
      let read = "";
      for (const [from, to] of pieces) {
        // A feed may repeat text, but never leaves a gap.
        const begins = Math.min(from, read.length);
        read += written.add("m", 0, text.slice(begins, Math.max(begins, to)), begins);
      }
      read += written.add("m", 0, text, 0);
      expect(read).toBe(text);
    }),
    { numRuns: 100 },
  );
});

test.each(feeds)("the reader of a turn ends with the turn: $name", ({ items: feed }) => {
  const end = feed.findIndex(
    (item) => item.type === "run.ended" && item.reason !== "waiting" && !isSubAgent(feed, item.run),
  );
  const reader = new TurnReader();
  const read = feed.slice(0, end + 1).flatMap((item) => reader.take(item));
  expect([read[0]?.type, read.at(-1)?.type, reader.isOver]).toEqual(["turn-start", "turn-end", true]);
  expect(feed.slice(end + 1).flatMap((item) => reader.take(item))).toEqual([]);
  const starts = read.flatMap((item) => (item.type === "agent-start" ? [item.run] : []));
  expect(read.flatMap((item) => (item.type === "agent-end" ? [item.run] : [])).toSorted()).toEqual(starts.toSorted());
});

function isSubAgent(feed: readonly FeedItem[], run: string): boolean {
  return feed.some((item) => item.type === "run.started" && item.run === run && item.call !== undefined);
}
