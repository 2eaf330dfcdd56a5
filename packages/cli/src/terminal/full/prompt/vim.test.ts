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

/** The text after some keys, with `|` at the cursor. */
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
    ["02w", "one two three", "one two |three"],
    ["010l", "one two three", "one two th|ree"],
    ["2b", "one two three", "one |two three"],
    ["0W", "one.two three", "one.two |three"],
    ["0E", "one.two three", "one.tw|o three"],
    ["B", "one two.three", "one |two.three"],
    ["3gg", "1\n2\n3\n4", "1\n2\n|3\n4"],
    ["2G", "1\n2\n3\n4", "1\n|2\n3\n4"],
    ["3k2j", "1\n2\n3\n4", "1\n2\n|3\n4"],
    ["0fo", "one two, too", "one tw|o, too"],
    ["0fo;", "one two, too", "one two, t|oo"],
    ["02fo,", "one two, too", "one tw|o, too"],
    ["0to", "one two, too", "one t|wo, too"],
    ["0to;", "one two, too", "one two, |too"],
    ["Ft", "one two, too", "one two, |too"],
    ["Tw", "one two, too", "one tw|o, too"],
    ["0fz", "one", "|one"],
    ["03x", "one two", "| two"],
    ["0lX", "one", "|ne"],
    ["02dw", "one two three", "|three"],
    ["0d2w", "one two three", "|three"],
    ["gg2dw", "one two\n  three", "|\n  three"],
    ["02cwnew", "one two three", "new| three"],
    ["gg2dd", "1\n2\n3", "|3"],
    ["ggdj", "1\n2\n3", "|3"],
    ["d2k", "1\n2\n3", "|"],
    ["dk", "one", "on|e"],
    ["ggyjGp", "1\n2\n3", "1\n2\n3\n|1\n2"],
    ["0dfo", "to one two", "| one two"],
    ["0dto", "to one two", "|o one two"],
    ["dFo", "to one two", "to |o"],
    ["0wdiw", "one two three", "one | three"],
    ["0wdaw", "one two three", "one |three"],
    ["daw", "one two", "on|e"],
    ["0ldaW", "one.two three", "|three"],
    ["0ciwnew", "one two", "new| two"],
    ['0ci"new', 'say "one two" to', 'say "new|" to'],
    ['0da"', 'say "one two" to', "say |to"],
    ["0di'", "say one", "|say one"],
    ["0fodib", "f(one, (two)) 3", "f(|) 3"],
    ["hhhda)", "f(one, (two)) 3", "f(one, |) 3"],
    ["ggwci{new", "f {\n  one\n}", "f {new|}"],
    ["hdi[", "a[b", "a|[b"],
    ["0rx", "one", "|xne"],
    ["02rx", "one", "x|xe"],
    ["04rx", "one", "|one"],
    ["0~~", "onE", "ON|E"],
    ["05~", "onE", "ON|e"],
    ["ggJ", "one\n  two\nthree", "one| two\nthree"],
    ["gg3J", "one\n  two\nthree", "one two| three"],
    ["0xp", "one", "n|oe"],
    ["0x3p", "one", "noo|oe"],
    ["yy2p", "one", "one\n|one\none"],
    ["0snew", "one", "new|ne"],
    ["Snew", "one\ntwo", "one\nnew|"],
    ["0dw.", "one two three", "|three"],
    ["0x..", "one two", "| two"],
    ["0rxl.", "one", "x|xe"],
    [`0cwnew${ESC}w.`, "one two", "new ne|w"],
    [`0i-${ESC}.`, "one", "|--one"],
    [`onew${ESC}.`, "one", "one\nnew\nne|w"],
    ["0.", "one", "|one"],
    ["02", "one two", "|one two"],
    [`02${ESC}x`, "one two", "|ne two"],
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

  test("after any keys, Enter sends the text of the prompt", () => {
    const keys = 'hjklwbeWBE0^$gGfFtT;,iaIAoOdcyxXDCsSYrJ~pPu.129("b \x1b'.split("");
    let seed = 7;
    const next = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let round = 0; round < 300; round++) {
      const { editor, press, sent } = opened();
      editor.set('one (two) "three"\n\n  👩‍👩‍👧‍👦 four.five\n');
      const pressed = Array.from({ length: 40 }, () => keys[next(keys.length)]).join("");
      press(ESC + pressed);
      const { text } = editor;
      press("\r");
      expect(sent, pressed).toEqual([text.trimEnd()]);
    }
  });

  test("an extremely large number has a bounded effect", () => {
    expect(after("one two", "0999999999999999999999w")).toBe("one tw|o");
    const { editor, press } = opened();
    editor.set("one");
    press(`${ESC}0x999999999p`);
    expect(editor.text).toBe(`n${"o".repeat(999)}e`);
  });

  test("take a long paste as one piece, and lose no character", () => {
    const { editor, press, sent } = opened();
    const pasted = Array.from({ length: 11 }, (_, index) => `line ${index}`).join("\n");
    press("a ");
    editor.paste(pasted);
    press(`${ESC}xu0xx$pa b\r`);
    expect(sent).toEqual([expect.stringContaining(pasted)]);
  });
});

describe("T56: visual mode of vi", () => {
  test.each([
    ["0vd", "one two", "|ne two"],
    ["0ved", "one two", "| two"],
    ["0vex", "one two", "| two"],
    ["0wved", "one two", "one|"],
    ["v0d", "one two", "|"],
    ["0v2ld", "one two", "| two"],
    ["0vfwd", "one two", "|o"],
    ["0lv$d", "one\ntwo", "one\n|t"],
    ["ggvjd", "one\ntwo", "|wo"],
    ["0vlod", "one", "|e"],
    ["0vlohd", "one", "|e"],
    [`0veczero${ESC}`, "one two", "zer|o two"],
    ["0vey$p", "one two", "one twoon|e"],
    ["0veywvep", "one two", "one on|e"],
    ["0veywvep0P", "one two", "tw|oone one"],
    ["0veywvePP", "one two", "one onon|ee"],
    ["0wviwd", "one two three", "one | three"],
    ["0fbvi(d", "a(b c)d", "a(|)d"],
    ["0va(d", "a(b)c", "|(b)c"],
    ["0lva(d", "a(b)c", "a|c"],
    ["0veU", "one two", "|ONE two"],
    ["0veUveu", "one two", "|one two"],
    ["0vl~", "one", "|ONe"],
    ["0vlrx", "one", "|xxe"],
    ["ggvjrx", "ab\ncd", "|xx\nxd"],
    ["ggVjd", "one\ntwo\nthree", "|three"],
    ["VD", "one\ntwo", "|one"],
    ["ggvD", "one\ntwo", "|two"],
    [`ggVcfour${ESC}`, "one\ntwo", "fou|r\ntwo"],
    ["ggVyjp", "one\ntwo", "one\ntwo\n|one"],
    ["ggVyjVp", "one\ntwo", "one\n|one"],
    ["ggVj>", "one\n\ntwo", "  |one\n\ntwo"],
    ["ggVG>", "one\n\ntwo", "  |one\n\n  two"],
    ["ggVG2>ggVG<", "one\ntwo", "  |one\n  two"],
    ["V<", " one", "|one"],
    ["ggVjJ", "one\ntwo\nthree", "one| two\nthree"],
    ["ggVGd", "one\ntwo", "|"],
    ["0vvx", "one", "|ne"],
    ["0vVvlx", "one", "|e"],
    [`0vl${ESC}x`, "one", "o|e"],
    ["0vedu", "one two", "on|e two"],
    ["0veddd", "one two", "|"],
    ["0vd.", "one", "|e"],
    ["0vld.", "one two", "|two"],
    ["0vld$.", "one two", "e t|w"],
    [`0vecnew${ESC}w.`, "one two", "new ne|w"],
    [`0vecnew${ESC}w..`, "one two", "new nene|w"],
    ["ggVd.", "one\ntwo\nthree", "|three"],
    ["ggVjdGgg.", "one\ntwo\nthree\nfour\nfive", "|five"],
    ["gg0lvjdj0.", "one\ntwo\nthree\nfour", "oo\n|ur"],
    ["ggV>j.", "one\ntwo", "  one\n  |two"],
    ["0vlUw.", "one two", "ONe |TWo"],
    ["0vlrxw.", "one two", "xxe |xxo"],
    ["0vyx.", "one two", "|e two"],
    ["0xvly.", "one two", "|e two"],
    ["0vj", "one", "|one"],
    ["0vd", "👩‍👩‍👧‍👦a", "|a"],
    ["0vd", "", "|"],
  ])("%s in %j is %j", (keys, text, expected) => {
    expect(after(text, keys)).toBe(expected);
  });

  test("the selection is painted and counted in each of its rows", () => {
    const theme = createTheme(4, "dark");
    const editor = new PromptEditor({
      keys: new KeyBindings(),
      completion: new Completion(() => []),
      vim: true,
      theme: () => theme,
      onSend: () => {},
      onChange: () => {},
    });
    editor.set("one 你好 two three\n\nfour");
    for (const key of `${ESC}ggwvG`) editor.key(key);
    expect(editor.mode).toBe("visual");
    expect(editor.selection).toBe("15 characters selected, 3 lines");
    const { lines } = editor.lines(13, 24);
    expect(lines).toEqual([
      `one ${theme.selected("你好")}`,
      theme.selected("two three"),
      theme.selected(" "),
      `${theme.selected("f")}our`,
    ]);
    editor.key("V");
    expect(editor.mode).toBe("visual line");
    expect(editor.lines(80, 24).lines[0]).toBe(theme.selected("one 你好 two three"));
    // A replaced text has no selection.
    editor.set("new");
    expect(editor.mode).toBe("normal");
    expect(editor.selection).toBeUndefined();
  });
});
