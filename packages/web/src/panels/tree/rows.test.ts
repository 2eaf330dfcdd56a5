import { type ConversationState, type Event, emptyConversation, reduce } from "@banyan/core/conversation";
import { describe, expect, it } from "vitest";
import { layOut } from "./map-layout.ts";
import { treeMarks } from "./marks.ts";
import { outlineRows, type TreeViewOptions } from "./rows.ts";

/** A tree of user messages, each with its parent, in the order of their creation. */
function treeOf(...messages: readonly (readonly [id: string, parent: string | null])[]): ConversationState {
  const tree = emptyConversation("c");
  for (const [message, parentId] of messages) {
    tell(tree, {
      type: "message.added",
      message,
      parentId,
      role: "user",
      author: "user",
      parts: [{ type: "text", text: message }],
    });
  }
  return tree;
}

function tell(tree: ConversationState, event: object): void {
  reduce(tree, { ...event, seq: tree.seq + 1, epoch: 1, at: 0 } as Event);
}

/**
 * ```
 * a - b ┬ c - d
 *       └ e ┬ f
 *           └ g
 * ```
 */
const tree = () => treeOf(["a", null], ["b", "a"], ["c", "b"], ["d", "c"], ["e", "b"], ["f", "e"], ["g", "e"]);

const rows = (state: ConversationState, view?: TreeViewOptions, hits: readonly string[] = []) =>
  outlineRows(state, treeMarks(state, new Set(hits)), view);
const shown = (state: ConversationState, view?: TreeViewOptions) =>
  rows(state, view).map(({ first, id, level, messages }) => `${level} ${first}-${id} ${messages}`);

/** A chain so long that recursion per message overflows the stack. */
const chain = (length: number) =>
  treeOf(...Array.from({ length }, (_, n) => [`m${n}`, n === 0 ? null : `m${n - 1}`] as const));

describe("the rows of a tree", () => {
  it("W16: a run of messages without a branch is one row, and can be spread", () => {
    expect(shown(tree())).toEqual(["1 a-b 2", "2 c-d 2", "2 e-e 1", "3 f-f 1", "3 g-g 1"]);
    expect(shown(tree(), { spread: new Set(["c"]) })).toEqual([
      "1 a-b 2",
      "2 c-c 1",
      "3 d-d 1",
      "2 e-e 1",
      "3 f-f 1",
      "3 g-g 1",
    ]);
  });

  it("W18: each row knows its place among its siblings; what is below a closed one is left out", () => {
    const closed = rows(tree(), { closed: new Set(["e"]) });
    expect(closed.map(({ id, place, of, isOpen, hasChildren }) => [id, place, of, isOpen, hasChildren])).toEqual([
      ["b", 1, 1, true, true],
      ["d", 1, 2, true, false],
      ["e", 2, 2, false, true],
    ]);
  });

  it("W13: a branch with a star comes first; with the others hidden, it is alone", () => {
    const state = tree();
    tell(state, { type: "message.starred", message: "g", starred: true });
    expect(shown(state)).toEqual(["1 a-b 2", "2 e-e 1", "3 g-g 1", "3 f-f 1", "2 c-d 2"]);
    expect(shown(state, { onlyStarred: true }).map((row) => row.split(" ")[1])).toEqual(["a-g"]);
    expect(shown(tree(), { onlyStarred: true })).toEqual([]);
  });

  it("W13: a message with a name or a star ends its row, so that it is seen", () => {
    const state = tree();
    tell(state, { type: "message.labelled", message: "c", label: "the plan" });
    expect(shown(state)).toContain("2 c-c 1");
    expect(shown(state)).toContain("3 d-d 1");
  });

  it("W20: a message can be taken for the root", () => {
    expect(shown(tree(), { hoisted: "e" })).toEqual(["1 e-e 1", "2 f-f 1", "2 g-g 1"]);
  });

  it("W19: hits are counted where they stand, also inside of a run", () => {
    expect(rows(tree(), {}, ["a", "b", "f"]).map(({ id, hits }) => [id, hits])).toEqual([
      ["b", 2],
      ["d", 0],
      ["e", 0],
      ["f", 1],
      ["g", 0],
    ]);
  });

  it("W11: a run marks its row, or the closed row that contains it", () => {
    const state = tree();
    const run = {
      type: "run.started",
      run: "r",
      agent: "a",
      model: "m",
      settings: {},
      limits: {},
      mode: "chat",
      instructions: "",
      tools: "",
    };
    tell(state, { ...run, leaf: "f" });
    const running = (view?: TreeViewOptions) =>
      rows(state, view)
        .filter(({ isRunning }) => isRunning)
        .map(({ id }) => id);
    expect(running()).toEqual(["f"]);
    expect(running({ closed: new Set(["e"]) })).toEqual(["e"]);
    expect(running({ closed: new Set(["b"]) })).toEqual(["b"]);
  });

  it("W11: a waiting question marks its row, or the closed row that contains it", () => {
    const state = tree();
    tell(state, { type: "question.asked", message: "f", call: "c", question: "q", text: "Which one?" });
    const waiting = (view?: TreeViewOptions) =>
      rows(state, view)
        .filter(({ isWaiting }) => isWaiting)
        .map(({ id }) => id);
    expect(waiting()).toEqual(["f"]);
    expect(waiting({ closed: new Set(["b"]) })).toEqual(["b"]);
  });

  it("W12: a removed message has no row, and its siblings join the run above", () => {
    const state = tree();
    tell(state, { type: "message.removed", message: "c" });
    expect(shown(state)).toEqual(["1 a-e 3", "2 f-f 1", "2 g-g 1"]);
  });
});

describe("the map", () => {
  it("W16: the map has one node for each row, without overlap, each to the right of its parent", () => {
    const all = rows(tree());
    const { nodes, forks } = layOut(all);
    expect(nodes.map(({ row }) => row.id)).toEqual(all.map(({ id }) => id));
    expect(new Set(nodes.map(({ x, y }) => `${x} ${y}`)).size).toBe(nodes.length);
    const at = new Map(nodes.map((node) => [node.row.id, node]));
    for (const { row, x } of nodes) if (row.parent) expect(x).toBeGreaterThan(at.get(row.parent)?.x ?? x);
    expect(forks.map(({ id }) => id)).toEqual(["b", "e"]);
  });

  it("W16: a chain of 20,000 messages is one node, and 20,000 when it is spread", () => {
    const state = chain(20_000);
    expect(layOut(rows(state)).nodes).toHaveLength(1);
    expect(layOut(rows(state, { spread: new Set(["m0"]) })).nodes).toHaveLength(20_000);
  });
});
