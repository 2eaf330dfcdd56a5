import type { ChatCompletionRequest } from "@copilotkit/aimock";
import { describe, expect, test } from "vitest";
import { type Item, plantedItems, type State, summaryLine } from "./items.ts";
import { recalled, statesIn, tellingTexts, userWordsIn } from "./judge.ts";
import { brokenCalls } from "./request.ts";
import { scriptOf } from "./script.ts";

const items = plantedItems(7);
const stateOf = (item: Item) => item.states?.[0];
const lines = items.map((item) => summaryLine(item, stateOf(item)));
const count = (...texts: string[]) => recalled(items, texts, stateOf).length;
const itemOf = (kind: Item["kind"], at = 0) => items.filter((item) => item.kind === kind)[at] as Item;

const request = (...messages: ChatCompletionRequest["messages"]): ChatCompletionRequest => ({ model: "m", messages });

describe("B42: the judge of what is remembered", () => {
  test("plants 20 items of the eight kinds, with words that stand nowhere else in the script", () => {
    expect(items).toHaveLength(20);
    expect(new Set(items.map(({ word }) => word)).size).toBe(20);
    const { turns, files, items: planted } = scriptOf({ seed: 7, window: 8_000, talkative: true });
    const said = turns.map(({ says }) => says).join("\n");
    for (const { word, kind, sentence } of planted) {
      const isSaid = ["order", "correction", "decision", "question"].includes(kind);
      expect(said.split(word).length - 1, sentence).toBe(isSaid ? 1 : 0);
    }
    for (const word of planted.map(({ word }) => word)) expect(files["notes.txt"]).not.toContain(word);
  });

  test("counts all items of a whole summary, one less for each line that is gone, and none of nothing", () => {
    expect(count(lines.join("\n"))).toBe(20);
    expect(count("")).toBe(0);
    items.forEach((item, at) => {
      // A correction only counts after the order that it corrects.
      const corrected = items.filter(({ corrects }) => corrects === item).length;
      expect(count(lines.filter((_, other) => other !== at).join("\n")), item.sentence).toBe(19 - corrected);
    });
  });

  test("counts nothing that only an answer of the model or a result tells", () => {
    const text = lines.join("\n");
    const call = { id: "c", type: "function", function: { name: "read", arguments: "{}" } } as const;
    const hidden = request(
      { role: "system", content: text },
      { role: "user", content: "Go on." },
      { role: "assistant", content: text, tool_calls: [call] },
      { role: "tool", tool_call_id: "c", content: text },
    );
    expect(count(...tellingTexts(hidden, ["another summary"]))).toBe(0);
    // A summary also counts if a program sends it as an answer.
    expect(count(...tellingTexts(hidden, [text]))).toBe(20);
  });

  test("counts a correction only behind its order", () => {
    const [order, correction] = [itemOf("order").sentence, itemOf("correction").sentence];
    expect(count(`${order}\n${correction}`)).toBe(2);
    expect(count(`${correction}\n${order}`)).toBe(1);
    expect(count(correction)).toBe(0);
  });

  test("counts a file, a step and a process only with their state of that moment", () => {
    for (const [kind, wrong] of [
      ["file", "changed"],
      ["plan", "pending"],
      ["process", "ended"],
    ] as const) {
      const item = itemOf(kind);
      expect(recalled([item], [summaryLine(item, stateOf(item))], stateOf)).toEqual([item]);
      expect(recalled([item], [summaryLine(item, wrong)], stateOf)).toEqual([]);
      expect(recalled([item], [item.sentence], stateOf)).toEqual([]);
      // The last of several mentions counts.
      const older = [summaryLine(item, wrong), summaryLine(item, stateOf(item))];
      expect(recalled([item], older, stateOf)).toEqual([item]);
      expect(recalled([item], older.reverse(), stateOf)).toEqual([]);
    }
  });

  test("counts a process that has ended unless it is told to run", () => {
    const item = itemOf("process");
    const ended = () => "ended" as State;
    expect(recalled([item], ["Nothing runs."], ended)).toEqual([item]);
    expect(recalled([item], [summaryLine(item, "ended")], ended)).toEqual([item]);
    expect(recalled([item], [`Running: p1 (${item.sentence})`], ended)).toEqual([]);
  });

  test.each([
    [
      "file",
      "Files created: heron.txt, otter.txt; changed: cedar.txt",
      { heron: "created", otter: "created", cedar: "changed" },
    ],
    ["file", "heron.txt (created), cedar.txt (changed)", { heron: "created", cedar: "changed" }],
    [
      "file",
      "## Changed files\n- cedar.txt\n- heron.txt\n\n## Read files\n- otter.txt",
      { cedar: "changed", heron: "changed", otter: "read" },
    ],
    [
      "file",
      "<read-files>\notter.txt\n</read-files>\n<modified-files>\ncedar.txt\n</modified-files>",
      { otter: "read", cedar: "written" },
    ],
    [
      "plan",
      "[x] Mend heron\n[ ] Mend otter\n[~] Mend cedar",
      { heron: "completed", otter: "pending", cedar: "in progress" },
    ],
    ["plan", "1. Mend heron (completed)\n2. Mend otter (in_progress)", { heron: "completed", otter: "in progress" }],
    ["process", "Running in the background:\n- p1: tail -f heron.log", { heron: "running" }],
    ["process", "p1 has ended: tail -f heron.log", { heron: "ended" }],
  ] as const)("reads the states of %s from %j", (kind, text, states) => {
    for (const [word, state] of Object.entries(states)) expect(statesIn({ kind, word }, text)).toEqual([state]);
  });

  test("finds messages of the user that are there word for word, and how many a line counts", () => {
    const texts = ["One.", "12 earlier messages of the user are left out."];
    expect(userWordsIn(texts, ["One.", "Two."])).toEqual({ whole: [true, false], counted: [12] });
  });

  test("finds calls without a result, results without a call, and calls that are there twice", () => {
    const call = (id: string) => ({ id, type: "function", function: { name: "read", arguments: "{}" } }) as const;
    const asks = (...ids: string[]) => ({ role: "assistant", content: null, tool_calls: ids.map(call) }) as const;
    const gives = (id: string) => ({ role: "tool", content: "", tool_call_id: id }) as const;
    const says = { role: "user", content: "Go on." } as const;
    expect(brokenCalls([says, asks("a", "b"), gives("b"), gives("a"), says])).toEqual([]);
    expect(brokenCalls([asks("a"), says, gives("a")])).toEqual(["a has no result", "the result of a follows no call"]);
    expect(brokenCalls([asks("a", "a"), gives("a")])).toEqual(["a is there twice"]);
    expect(brokenCalls([asks("a")])).toEqual(["a has no result"]);
  });
});
