import type { Call } from "@banyan/core/conversation";
import fc from "fast-check";
import { expect, test } from "vitest";
import { foldNeighbours, foldSentence, hasPlace, type QuietPart, quietCall } from "./fold.ts";

const base = { id: "c", tool: "read", inputText: "", input: {}, attempt: 1, progress: "", startedAt: 1 } as const;

function looking(one: string, output: string, more: Partial<Call> = {}): Call {
  const about = { looksAt: { one, several: one === "search" ? "searches" : `${one}s` } };
  return { ...base, about, status: "completed", output, endedAt: 2, ...more };
}

const partOf = (call: Call): QuietPart => ({ type: "call", call });

const anyCall = fc
  .record({
    status: fc.constantFrom<Call["status"]>("pending", "executing", "completed", "failed", "denied", "cancelled"),
    looks: fc.boolean(),
    hasFiles: fc.boolean(),
  })
  .map(({ status, looks, hasFiles }): Call => {
    const files = hasFiles ? { files: [] } : {};
    return { ...looking("file", ""), ...(looks ? {} : { about: { command: "ls" } }), status, ...files } as Call;
  });

test("T68, W30: a fold loses no item and moves none; running calls, failed calls and calls with files never fold", () => {
  fc.assert(
    fc.property(fc.array(anyCall, { maxLength: 12 }), (calls) => {
      const groups = foldNeighbours(calls, quietCall);
      expect(groups.flat()).toEqual(calls);
      for (const [index, group] of groups.entries()) {
        const isQuiet = group.every(({ about, status, files }) => about?.looksAt && status === "completed" && !files);
        if (group.length > 1) expect(isQuiet).toBe(true);
        // Neighbours that may fold are never in two groups.
        const next = groups[index + 1];
        if (isQuiet && next) expect(quietCall(next[0])).toBeUndefined();
      }
    }),
    { numRuns: 300 },
  );
});

test("T68: a fold is one sentence with sizes, the most frequent kind first", () => {
  const files = ["1\toak\n2\telm\n", "1\tfig\n[a.txt goes on; read on with start=2]\n"].map((text) =>
    partOf(looking("file", text)),
  );
  const searches = ["a.ts:1:oak\nb.ts:20:oak\n", "[no matches]\n"].map((text) => partOf(looking("search", text)));
  const folder = partOf(looking("folder", "src/\n"));
  expect(foldSentence([folder, ...files, ...searches, { type: "thought", time: 4_200 }])).toBe(
    "Read 2 files (3 lines), 1 folder, searched twice (2 hits), thought 4 s",
  );
  expect(foldSentence([...searches, ...searches])).toBe("Searched 4 times (4 hits)");
  expect(foldSentence(searches.slice(1))).toBe("Searched once (0 hits)");
  expect(foldSentence([{ type: "thought", time: 61_000 }])).toBe("Thought 1 min 1 s");
  expect(foldSentence([partOf(looking("file\u001b[2J", ""))])).not.toContain("\u001b");
});

test("T68: a thought of less than two seconds has no place and no share of the time", () => {
  const thought = (time: number): QuietPart => ({ type: "thought", time });
  expect([1_999, 2_000].map((time) => hasPlace(thought(time)))).toEqual([false, true]);
  expect(hasPlace({ type: "empty" })).toBe(false);
  expect(foldSentence([thought(1_900), thought(2_000), partOf(looking("page", ""))])).toBe("Read 1 page, thought 2 s");
});
