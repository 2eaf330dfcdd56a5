import { describe, expect, test } from "vitest";
import { KeyBindings } from "../keys/key-bindings.ts";
import { createTheme } from "../theme/theme.ts";
import { Completion } from "./completion.ts";
import { PromptEditor } from "./prompt-editor.ts";

const ESC = "\x1b";

function opened() {
  const sent: string[] = [];
  const theme = createTheme(1, "dark");
  const editor = new PromptEditor({
    keys: new KeyBindings(),
    completion: new Completion(() => []),
    vim: true,
    theme: () => theme,
    onSend: (text) => sent.push(text),
    onChange: () => {},
  });
  const press = (keys: string) => {
    for (const key of keys) editor.key(key);
  };
  return { editor, press, sent };
}

/** The text after keys, with `|` where the cursor stands. */
function after(text: string, keys: string): string {
  const { editor, press } = opened();
  editor.set(text);
  press(ESC + keys);
  const { lines, cursor } = editor.lines(80, 24);
  return lines
    .map((line, row) => (row === cursor.row ? `${line.slice(0, cursor.column)}|${line.slice(cursor.column)}` : line))
    .join("\n");
}

describe("T56: the keys of vi", () => {
  test.each([
    ["hh", "one two", "one |two"],
    ["0", "  one two", "|  one two"],
    ["^", "  one two", "  |one two"],
    ["0$", "one two", "one tw|o"],
    ["0lllllllll", "one", "on|e"],
    ["0w", "one two", "one |two"],
    ["0w", "one.two", "one|.two"],
    ["0ww", "one\n\ntwo", "one\n\ntw|o"],
    ["ggw", "one\n  two", "one\n  |two"],
    ["b", "one two", "one |two"],
    ["bb", "one two", "|one two"],
    ["ggG", "one\ntwo\n three", "one\ntwo\n |three"],
    ["gg", " one\ntwo", " |one\ntwo"],
    ["0e", "one two", "on|e two"],
    ["0ee", "one two", "one tw|o"],
    ["k", "one\ntwo", "on|e\ntwo"],
    ["kj", "one\ntwo", "one\ntw|o"],
    ["kkjj", "long line\n\nlong line", "long line\n\nlong lin|e"],
    ["0x", "one", "|ne"],
    ["x", "one", "o|n"],
    ["0x", "👩‍👩‍👧‍👦a", "|a"],
    ["dd", "one\ntwo\nthree", "one\n|two"],
    ["ggdd", "one\n  two", "  |two"],
    ["dd", "one", "|"],
    ["0dw", "one two", "|two"],
    ["dw", "one\ntwo", "one\nt|w"],
    ["ggdw", "one\ntwo", "|\ntwo"],
    ["bdb", "one two", "|two"],
    ["0de", "one two", "| two"],
    ["bd0", "one two", "|two"],
    ["0wD", "one two", "one|"],
    ["ggdG", "one\ntwo", "|"],
    ["0dwp", "one two", "tone| wo"],
    ["0dw$p", "one two", "twoone|"],
    ["ggddp", "one\ntwo", "two\n|one"],
    ["yyp", "one", "one\n|one"],
    ["0ywP", "one two", "one| one two"],
    ["0dwu", "one two", "|one two"],
    ["0cwthree", "one two", "three| two"],
    ["hcwthree", "one two", "one tthree|"],
    ["ccnew", "one\ntwo", "one\nnew|"],
    ["0Cnew", "one", "new|"],
    ["0inew ", "one", "new |one"],
    ["0a-", "one", "o-|ne"],
    ["Inew ", "  one", "  new |one"],
    ["0A!", "one", "one!|"],
    ["ggonew", "one\ntwo", "one\nnew|\ntwo"],
    ["Onew", "one\ntwo", "one\nnew|\ntwo"],
    ["zq/", "one", "on|e"],
    ["0dzx", "one", "|ne"],
    [`0d${ESC}x`, "one", "|ne"],
    ["\x7f", "one", "o|ne"],
  ])("%j on %j", (keys, text, expected) => {
    expect(after(text, keys)).toBe(expected);
  });

  test("begin in the mode to insert, which Enter brings back, and are undone an edit at a time", () => {
    const { editor, press, sent } = opened();
    press("one two");
    expect([editor.text, editor.mode]).toEqual(["one two", "insert"]);
    press(`${ESC}0dw`);
    press("x");
    expect([editor.text, editor.mode]).toEqual(["wo", "normal"]);
    press("u");
    expect(editor.text).toBe("two");
    press("u");
    expect(editor.text).toBe("one two");
    press("\r");
    expect(sent).toEqual(["one two"]);
    expect(editor.mode).toBe("insert");
  });

  test("take a long paste as one piece, and lose nothing of it", () => {
    const { editor, press, sent } = opened();
    const pasted = Array.from({ length: 11 }, (_, index) => `line ${index}`).join("\n");
    press("a ");
    editor.paste(pasted);
    press(`${ESC}xu0xx$pa b\r`);
    expect(sent).toEqual([expect.stringContaining(pasted)]);
  });
});
