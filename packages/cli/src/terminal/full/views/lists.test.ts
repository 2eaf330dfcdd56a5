import { emptyConversation, type FeedItem, reduce } from "@banyan/core/conversation";
import { beforeEach, describe, expect, test } from "vitest";
import { KeyBindings } from "../keys/key-bindings.ts";
import type { Overlay, OverlayEnd } from "../overlay/overlay.ts";
import { Viewer } from "../overlay/viewer.ts";
import { textWidth, withoutColors } from "../screen/cells.ts";
import { createTheme } from "../theme/theme.ts";
import { Picker } from "./picker.ts";
import { TreeView } from "./tree-view.ts";

const plain = createTheme(1, "dark");
const keys = new KeyBindings();
const UP = "\x1b[A";
const DOWN = "\x1b[B";
const RIGHT = "\x1b[C";
const LEFT = "\x1b[D";
const END = "\x1b[F";
const PAGE_DOWN = "\x1b[6~";
const ENTER = "\r";
const ESC = "\x1b[27u";

/** Presses keys. Returns the end of the overlay, if the last key ends it. */
function press<T>(overlay: Overlay<T>, ...pressed: readonly string[]): OverlayEnd<T> | undefined {
  let over: OverlayEnd<T> | undefined;
  for (const key of pressed) for (const one of key.startsWith("\x1b") ? [key] : key) over = overlay.key(one, keys);
  return over;
}

function seen(overlay: Overlay<unknown>, columns = 80, rows = 24): readonly string[] {
  const { lines } = overlay.view({ columns, rows }, plain, true, keys);
  expect(lines.length).toBeLessThanOrEqual(rows);
  for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(columns);
  return lines;
}

describe("a picker", () => {
  const items = ["alpha", "beta", "gamma", "delta"].map((label, index) => ({
    value: index,
    label,
    help: `number ${index}`,
  }));

  test("shows the items and takes the one under the bar", () => {
    const picker = new Picker({ title: "Models", items, selected: 1 });
    expect(seen(picker)).toEqual(
      [
        expect.stringMatching(/^─ Models ─+ 4 entries ─$/),
        "filter:",
        "  alpha  number 0",
        "❯ beta   number 1",
        "  gamma  number 2",
        "  delta  number 3",
        expect.stringContaining("Esc goes back"),
      ].map((line) => (line === "filter:" ? "filter: " : line)),
    );
    expect(press(picker, DOWN, ENTER)).toEqual({ result: 2 });
  });

  test("goes round, filters by any letters in order, and says when nothing matches", () => {
    const picker = new Picker({ title: "Models", items });
    expect(press(picker, UP, ENTER)).toEqual({ result: 3 });
    press(picker, "mm");
    expect(seen(picker)[2]).toContain("❯ gamma");
    expect(seen(picker)[0]).toContain("1 of 4");
    press(picker, "zz");
    expect(seen(picker)[2]).toBe("Nothing matches.");
    expect(press(picker, ENTER)).toBeUndefined();
    expect(press(picker, "\x15", ESC)).toEqual({});
  });

  test("finds an item by the beginning of its id, and not by letters that an id has by chance", () => {
    const known = ["red", "blue"].map((label) => ({
      value: label,
      label,
      id: `${label === "red" ? "f1a2r3" : "kk"}9`,
    }));
    const picker = new Picker({ title: "Conversations", items: known });
    press(picker, "far");
    expect(seen(picker)[2]).toBe("Nothing matches.");
    press(picker, "\x15", "f1a");
    expect(seen(picker).slice(2, -1)).toEqual(["❯ red"]);
  });

  test("shows the item under the bar beside the list, or below it where that is too narrow", () => {
    const picker = new Picker({ title: "Sessions", items, preview: (item) => [`preview of ${item}`] });
    expect(picker.isFull).toBe(true);
    expect(seen(picker, 120, 24)[2]).toMatch(/^❯ alpha.*│ preview of 0$/);
    const narrow = seen(picker, 40, 16);
    expect(narrow.slice(6, 9)).toEqual(["─".repeat(40), "preview of 0", ""]);
    expect([narrow.length, narrow.at(-1)]).toEqual([16, "Enter chooses · Esc goes back"]);
    press(picker, "zz");
    expect(seen(picker, 40, 16).at(-1)).toContain("Enter chooses");
  });

  test("long names are cut, so that the next column is aligned and whole", () => {
    const titled = ["short", "a title that is longer than its room"].map((label) => ({
      value: label,
      label,
      help: "2026-11-22 07:43",
    }));
    const picker = new Picker({ title: "Sessions", items: titled });
    expect(seen(picker, 44, 10).slice(2, 4)).toEqual([
      "❯ short                     2026-11-22 07:43",
      "  a title that is longer …  2026-11-22 07:43",
    ]);
  });

  test("T26: in few columns leaves out whole columns of what stands behind names, and cuts a sentence between words", () => {
    const items = [
      { value: 1, label: "demo/offline-and-longer", help: "$0.25 in  $10 out  128k" },
      { value: 2, label: "other", help: "cannot be used: it is not there" },
    ];
    const lines = (columns: number) => seen(new Picker({ title: "Models", items }), columns, 10).slice(2, 4);
    expect(lines(40)).toEqual(["❯ demo/offline-a…  $0.25 in  $10 out", "  other            cannot be used: it …"]);
  });

  test("T41: hidden text of items is found too, below visible matches; only the result for the last typed text counts", async () => {
    const answers = new Map<string, PromiseWithResolvers<number[]>>();
    let changes = 0;
    const search = (text: string) => {
      const answer = Promise.withResolvers<number[]>();
      answers.set(text, answer);
      return answer.promise;
    };
    const picker = new Picker({ title: "Sessions", items, search }, () => changes++);
    press(picker, "bt");
    answers.get("bt")?.resolve([3]);
    answers.get("b")?.resolve([0]);
    await new Promise(setImmediate);
    expect(changes).toBe(1);
    expect(seen(picker).slice(2, -1)).toEqual(["❯ beta   number 1", "  delta  number 3"]);
  });

  test("a list of a thousand items shows a part", () => {
    const many = Array.from({ length: 1_000 }, (_, index) => ({ value: index, label: `item ${index}` }));
    const picker = new Picker({ title: "Many", items: many });
    expect(press(picker, END, ENTER)).toEqual({ result: 999 });
    expect(seen(picker).at(-2)).toContain("❯ item 999");
  });
});

describe("a viewer", () => {
  const page = (title: string, count: number) => ({
    title,
    lines: () => Array.from({ length: count }, (_, index) => `${title} ${index + 1}`),
  });

  test("shows the last page; Left and Right go to the others; up, down and pages move", () => {
    const viewer = new Viewer([page("first", 3), page("second", 100)]);
    expect(seen(viewer, 80, 10)[0]).toMatch(/second ─+ 2\/2 ─$/);
    press(viewer, PAGE_DOWN, DOWN);
    expect(seen(viewer, 80, 10)[1]).toBe("second 10");
    press(viewer, END);
    expect(seen(viewer, 80, 10).at(-1)).toContain("lines 93 to 100 of 100");
    press(viewer, LEFT);
    expect(seen(viewer, 80, 10)[1]).toBe("first 1");
    press(viewer, RIGHT);
    expect(seen(viewer, 80, 10)[1]).toBe("second 1");
    expect(press(viewer, ESC)).toEqual({});
  });

  test("the opening key shows the previous page, as the last line says, and closes the view on the first page", () => {
    const viewer = new Viewer([page("first", 3), page("second", 3)], { openKey: "Ctrl-O" });
    expect(seen(viewer, 80, 10).at(-1)).toBe(
      "lines 1 to 3 of 3 · Esc goes back · Ctrl-O previous page · ← → other pages",
    );
    expect(press(viewer, "\x0f")).toBeUndefined();
    expect(seen(viewer, 80, 10)[1]).toBe("first 1");
    expect(seen(viewer, 80, 10).at(-1)).toBe("lines 1 to 3 of 3 · Esc goes back · ← → other pages");
    expect(press(viewer, "\x0f")).toEqual({});
  });

  test("breaks a long line into lines that are set in as it is", () => {
    const viewer = new Viewer([{ title: "shell", lines: () => ["Arguments", "  one two three four"] }]);
    expect(seen(viewer, 14, 8).slice(1, 4)).toEqual(["Arguments", "  one two", "  three four"]);
  });

  test("T30: the view follows the end of growing text until the user scrolls away", () => {
    const growing: string[] = ["1", "2", "3"];
    const viewer = new Viewer([{ title: "live", lines: () => growing }], { atEnd: true });
    expect(seen(viewer, 80, 4).slice(1, 3)).toEqual(["2", "3"]);
    growing.push("4");
    expect(seen(viewer, 80, 4).slice(1, 3)).toEqual(["3", "4"]);
    press(viewer, UP);
    growing.push("5");
    expect(seen(viewer, 80, 4).slice(1, 3)).toEqual(["2", "3"]);
  });
});

describe("T28: the tree", () => {
  const state = emptyConversation();
  let seq = 0;
  const happens = (item: object) => reduce(state, { seq: ++seq, epoch: 1, at: 0, ...item } as FeedItem);
  const says = (message: string, parentId: string | null, text: string) =>
    happens({
      type: "message.added",
      message,
      parentId,
      role: "user",
      author: "user",
      parts: [{ type: "text", text }],
    });
  const answers = (message: string, parentId: string, text: string, call?: string) => {
    happens({ type: "message.started", message, parentId, run: "r", model: "m" });
    const parts = [{ type: "text", text }, ...(call === undefined ? [] : [{ type: "call", call }])];
    if (call !== undefined) happens({ type: "call.pending", message, call, tool: "shell", inputText: "{}", input: {} });
    happens({ type: "message.completed", message, parts, finish: "stop", usage: {} });
  };
  says("a", null, "a colour?");
  answers("b", "a", "Red.");
  says("c", "b", "why?");
  answers("d", "a", "Blue.", "call-1");
  says("e", "d", "and the sea?");
  answers("f", "e", "Also blue.");

  const labels: [string, string | null][] = [];
  const stars: [string, boolean][] = [];
  let tree: TreeView;
  beforeEach(() => {
    labels.length = 0;
    stars.length = 0;
    tree = new TreeView({
      state,
      agent: "banyan",
      leaf: "f",
      onLabel: (...label) => labels.push(label),
      onStar: (...star) => stars.push(star),
    });
  });
  const rows = (one = tree) =>
    seen(one, 80, 14)
      .slice(1, -1)
      .filter((line) => line !== "");

  test("shows branches set in, the current leaf marked, and Enter goes to the message under the bar", () => {
    expect(rows()).toEqual([
      "  #1    you     a colour?",
      "  ├ #2    banyan  Red.",
      "  │ #3    you     why?  (branch 1)",
      "  ├ #4    banyan  Blue.  (1 call)",
      "  │ #5    you     and the sea?",
      "❯ │ #6    banyan  Also blue.  (branch 2)  ← here",
    ]);
    expect(press(tree, UP, UP, ENTER)).toEqual({ result: "d" });
  });

  test("T26: in 40 columns the text and the current position come before other marks", () => {
    expect(seen(tree, 40, 10).at(-4)).toBe("❯ │ #6    banyan  Also blue.  ← here");
    expect(seen(tree, 40, 10).at(-6)).toBe("  ├ #4    banyan  Blue.  (1 call)");
  });

  test("folds a branch and unfolds it; a second time goes to the message above", () => {
    press(tree, UP, LEFT);
    expect(rows().at(-1)).toBe("❯ │ #5    you     and the sea?  + 1 message");
    press(tree, LEFT, LEFT);
    expect(rows().at(-1)).toBe("❯ ├ #4    banyan  Blue.  (1 call)  + 2 messages");
    press(tree, RIGHT);
    expect(rows()).toHaveLength(5);
  });

  test("shows only own messages, calls, or what is starred or named", () => {
    press(tree, "f", ENTER);
    expect(rows().map((line) => line.slice(-12).trim())).toEqual([
      expect.stringContaining("colour?"),
      expect.stringContaining("(branch 1)"),
      expect.stringContaining("the sea?"),
    ]);
    press(tree, ENTER);
    expect(rows()).toEqual(["❯ ├ #4    banyan  Blue.  (1 call)"]);
    press(tree, ENTER);
    expect(rows()).toEqual(["No message."]);
    press(tree, "f", ENTER);
    expect(rows()).toHaveLength(6);
  });

  test("searches", () => {
    press(tree, "/", ENTER, "blue");
    expect(rows().map((line) => line.includes("lue."))).toEqual([true, true]);
    press(tree, ENTER, UP);
    expect(press(tree, ENTER)).toEqual({ result: "d" });
    press(tree, ESC);
    expect(rows()).toHaveLength(6);
    expect(press(tree, ESC)).toEqual({});
  });

  test("names and stars the message under the bar", () => {
    press(tree, "l", ENTER, "the end", ENTER, "s", ENTER);
    expect(labels).toEqual([["f", "the end"]]);
    expect(stars).toEqual([["f", true]]);
    happens({ type: "message.labelled", message: "f", label: "the end" });
    happens({ type: "message.starred", message: "f", starred: true });
    expect(rows().at(-1)).toContain("[the end]  ★");
    press(tree, "l", ENTER, "\x15", ENTER, "s", ENTER);
    expect(labels.at(-1)).toEqual(["f", null]);
    expect(stars.at(-1)).toEqual(["f", false]);
  });

  test("holds 10,000 messages, also one below the other", () => {
    const large = emptyConversation();
    for (let index = 0; index < 10_000; index++)
      reduce(large, {
        seq: index + 1,
        epoch: 1,
        at: 0,
        type: "message.added",
        message: `m${index}`,
        parentId: index === 0 ? null : `m${index % 100 === 0 ? index - 50 : index - 1}`,
        role: "user",
        author: "user",
        parts: [{ type: "text", text: `message ${index}` }],
      } as FeedItem);
    const view = new TreeView({ state: large, agent: "banyan", leaf: "m9999", onLabel() {}, onStar() {} });
    expect(rows(view).at(-1)).toContain("message 9999");
    press(view, "/", ENTER, "message 77", ENTER);
    expect(seen(view)[0]).toMatch(/ 280 messages ─$/);
    expect(press(view, END, ENTER)).toEqual({ result: "m9977" });
  });
});

test("T26: a picker cuts no names so that they are the same", () => {
  const items = ["scripted", "test", "oak"].map((name) => {
    return { value: name, label: `openai-compatible/${name}`, help: "    price unknown    200k" };
  });
  const picker = new Picker({ title: "Models", items });
  expect(seen(picker, 44, 10).slice(2, 5)).toEqual([
    ...["❯ openai-compatible/scripted      price …", "  openai-compatible/test          price …"],
    "  openai-compatible/oak           price …",
  ]);
  // A few letters of help are useless.
  expect(seen(picker, 40, 10).slice(3, 5)).toEqual(["  openai-compatible/test", "  openai-compatible/oak"]);
});

describe("search in a full-screen view", () => {
  const words = Array.from(
    { length: 60 },
    (_, index) => `line ${index + 1}${index % 20 === 4 ? " with a Needle" : ""}`,
  );
  const opened = () => {
    const viewer = new Viewer([{ title: "Transcript", lines: () => words }]);
    seen(viewer, 80, 12);
    return viewer;
  };
  const top = (viewer: Viewer) => seen(viewer, 80, 12)[1];
  const foot = (viewer: Viewer) => seen(viewer, 80, 12).at(-1);

  test("typed text scrolls to a match in any case; Enter keeps the search, and n and N go around all matches", () => {
    const viewer = opened();
    expect(foot(viewer)).toBe("lines 1 to 10 of 60 · Esc goes back · / searches");
    press(viewer, "/", "needle");
    expect(foot(viewer)).toBe("search: needle");
    expect(top(viewer)).toBe("line 1");
    press(viewer, ENTER, "n");
    expect(seen(viewer, 80, 12)).toContain("line 25 with a Needle");
    expect(foot(viewer)).toMatch(/^“needle” in 3 lines · Esc ends the search · n\/N next, previous/);
    press(viewer, "n", "n");
    expect(seen(viewer, 80, 12)).toContain("line 5 with a Needle");
    press(viewer, "N");
    expect(seen(viewer, 80, 12)).toContain("line 45 with a Needle");
  });

  test("Esc goes one level back: from typed text to the earlier place, from matches to the page, from the page out", () => {
    const viewer = opened();
    press(viewer, DOWN, "/", "line 45");
    expect(seen(viewer, 80, 12)).toContain("line 45 with a Needle");
    press(viewer, ESC);
    expect(top(viewer)).toBe("line 2");
    press(viewer, "/", "nowhere", ENTER);
    expect(foot(viewer)).toMatch(/^“nowhere” is not there · /);
    expect(press(viewer, ESC)).toBeUndefined();
    expect(foot(viewer)).toContain("Esc goes back");
    expect(press(viewer, ESC)).toEqual({});
  });

  test("a match across two lines is found, counted once, and marked without the indent", () => {
    const theme = createTheme(4, "dark");
    const lines = ["    • one two three four five", "one two", "    three four"];
    const viewer = new Viewer([{ title: "Transcript", lines: () => lines }]);
    press(viewer, "/", "Two three", ENTER);
    const shown = viewer.view({ columns: 20, rows: 10 }, theme, true, keys).lines;
    expect(shown.map(withoutColors).slice(1, 5)).toEqual([
      "    • one two",
      "    three four five",
      "one two",
      "    three four",
    ]);
    for (const at of [1, 3]) expect(shown[at]).toContain(theme.selected("two"));
    for (const at of [2, 4]) expect(shown[at]).toContain(`    ${theme.selected("three")}`);
    expect(withoutColors(shown.at(-1) ?? "")).toContain("“Two three” in 2 li");
  });

  test("matches are marked, also in coloured text and after wide characters", () => {
    const theme = createTheme(4, "dark");
    const line = `${theme.good("你好 a")} needle`;
    const viewer = new Viewer([{ title: "Transcript", lines: () => [line] }]);
    press(viewer, "/", "a nee", ENTER);
    const [, shown = ""] = viewer.view({ columns: 40, rows: 10 }, theme, true, keys).lines;
    expect(withoutColors(shown)).toBe("你好 a needle");
    expect(shown).toContain(theme.selected("a nee"));
  });
});

test("T26, T46: help lines name the keys of the settings, and are whole or absent", () => {
  const set = new KeyBindings({ "list-cancel": "f4", "list-choose": "f5", "tree-search": [] });
  const last = (overlay: Overlay<unknown>, columns: number) =>
    overlay.view({ columns, rows: 10 }, plain, true, set).lines.at(-1);
  const picker = new Picker({ title: "Models", items: [{ value: 1, label: "one" }] });
  expect(last(picker, 80)).toBe("F5 chooses · F4 goes back · type to filter");
  expect(last(picker, 30)).toBe("F5 chooses · F4 goes back");
  const tree = new TreeView({
    state: emptyConversation(),
    agent: "banyan",
    leaf: null,
    onLabel: () => {},
    onStar: () => {},
  });
  expect(last(tree, 80)).toBe("↑ ↓ choose · F4 goes back · f filter · l name · s star · ← → fold");
  for (const overlay of [picker, tree, new Viewer([{ title: "one", lines: () => ["one"] }])])
    for (let columns = 20; columns < 80; columns++) expect(last(overlay, columns)).not.toContain("…");
});
