import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { KeyBindings } from "../keys/key-bindings.ts";
import { createTheme } from "../theme/theme.ts";
import { Completion } from "./completion.ts";
import { completeCommands } from "./completions.ts";
import { PromptEditor } from "./prompt-editor.ts";

const UP = "\x1b[A";
const DOWN = "\x1b[B";

let sent: string[];
let editor: PromptEditor;
let changed: () => void;

beforeEach(() => {
  sent = [];
  changed = () => {};
  const theme = createTheme(1, "dark");
  const commands = completeCommands([
    { name: "model", takes: "[name]", help: "take another model" },
    { name: "retry", help: "ask again" },
    { name: "review", takes: "[n] | all", help: "look" },
    { name: "edit", takes: "#n [text]", help: "change" },
  ]);
  editor = new PromptEditor({
    keys: new KeyBindings(),
    completion: new Completion(() => [commands]),
    theme: () => theme,
    onSend: (text) => sent.push(text),
    onChange: () => changed(),
  });
});

function press(...keys: readonly string[]): void {
  for (const key of keys) for (const one of key.startsWith("\x1b") ? [key] : key) editor.key(one);
}

/** Waits for listed suggestions. */
async function suggestions(): Promise<readonly string[]> {
  while (!editor.isCompleting) await new Promise<void>((resolve) => (changed = resolve));
  return editor.lines(80, 24).suggestions;
}

/** Waits for this number of suggestions. */
async function narrowedTo(count: number): Promise<void> {
  while ((await suggestions()).length !== count) await new Promise<void>((resolve) => (changed = resolve));
}

describe("T9: the prompt", () => {
  test("is sent with Enter", () => {
    press("hello", "\r");
    expect(sent).toEqual(["hello"]);
    expect(editor.isEmpty).toBe(true);
  });

  test.each([
    ["Shift+Enter", "\x1b[13;2u"],
    ["Ctrl-J", "\n"],
    ["\\ and Enter", "\\\r"],
  ])("has a new line with %s", (_name, keys) => {
    press("one", keys, "two", "\r");
    expect(sent).toEqual(["one\ntwo"]);
  });

  test("holds a paste of more than 10 lines as one piece, which is sent in full", () => {
    const pasted = Array.from({ length: 11 }, (_, index) => `line ${index}`).join("\n");
    press("see: ");
    editor.paste(pasted);
    press(" ok?");
    expect(editor.lines(80, 24).lines).toEqual(["see: [paste #1 +11 lines] ok?"]);
    press("\r");
    expect(sent).toEqual([`see: ${pasted} ok?`]);
  });

  test("a long paste can be opened for editing, and removed with one key", () => {
    const pasted = "x\n".repeat(11);
    editor.paste(pasted);
    editor.expandPastes();
    expect(editor.lines(80, 60).lines).toHaveLength(11);
    editor.set("");
    editor.paste(pasted);
    press("\x7f");
    expect(editor.isEmpty).toBe(true);
  });

  test("holds a short paste as it is", () => {
    editor.paste("a\nb");
    expect(editor.lines(80, 24).lines).toEqual(["a", "b"]);
  });

  test("S12, T62: a control sequence in a paste is in the message, and a sign on the screen", () => {
    editor.paste("a\x1b[31mb\x07\x9b2Jc\r\nd\u202e");
    expect(editor.lines(80, 24).lines).toEqual(["a␛[31mb␇\ufffd2Jc", "d\ufffd"]);
    expect(editor.text).toBe("a\x1b[31mb\x07\x9b2Jc\nd\u202e");
  });
});

describe("T62, K9: pasted text", () => {
  const GIT = "\t[url]\n\t\tinsteadOf = x\ty";

  test("keeps its tabs and its first indent, which are drawn as signs", () => {
    editor.paste(GIT);
    expect(editor.lines(80, 24)).toMatchObject({
      lines: ["→[url]", "→→insteadOf = x→y"],
      cursor: { row: 1, column: 17 },
    });
    press("\r");
    expect(sent).toEqual([GIT]);
  });

  test("stays the same in the history, after an edit, and if it is long", () => {
    editor.remember(GIT);
    press(UP, "!", "\r");
    editor.remember("    four blanks");
    press(UP, "\x1b[F", " more", "\r");
    const long = "\tall:\n".repeat(12);
    editor.paste(long);
    expect(editor.lines(80, 24).lines).toEqual(["[paste #1 +12 lines]"]);
    editor.expandPastes();
    expect(editor.take()).toBe(long.trimEnd());
    expect(sent).toEqual(["!\t[url]\n\t\tinsteadOf = x\ty", "    four blanks more"]);
  });

  test("one Backspace removes one tab", () => {
    editor.paste("\t\ta");
    press("\x7f", "\x7f", "b", "\r");
    expect(sent).toEqual(["\tb"]);
  });

  test("has its control characters also where tmux writes them as keys", () => {
    editor.paste("a\x1b[105;5ub\x1b[106;5uc\x1b[91;5ud\x1b[200;5ue");
    expect(editor.text).toBe("a\tb\nc\x1b[91;5ud\x1b[200;5ue");
  });

  test("random texts: the message is the paste with its line ends as \\n, and no line acts on the terminal", () => {
    const unit = fc.oneof(
      fc.constantFrom(
        "\t",
        "  ",
        "\n",
        "\r\n",
        "\x1b[31m",
        "\x1b]0;x\x07",
        "\x00",
        "\x7f",
        "\x9b",
        "\u202e",
        "漢",
        "👩‍👩‍👧",
        "\\",
        "é",
      ),
      fc.string({ unit: "binary", maxLength: 3 }).filter((text) => !/[\u{100000}-\u{10ffff}]/u.test(text)),
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 40 }), (text) => {
        editor.set("");
        editor.paste(text);
        const expected = text.replaceAll(/\r\n?/g, "\n").replace(/\n$/, "");
        expect(editor.text).toBe(expected);
        expect(editor.lines(60, 40).lines.join("")).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
        expect(editor.take().trimEnd()).toBe(expected.trimEnd());
      }),
      { numRuns: process.env.BANYAN_LONG === "1" ? 20_000 : 300 },
    );
  });
});

describe("T10: history", () => {
  test("is walked at the first and the last line only; what was being written comes back", () => {
    editor.remember("first");
    editor.remember("second");
    press("one\ntwo", UP);
    expect(editor.text).toBe("one\ntwo");
    press("\x01", UP);
    expect(editor.text).toBe("second");
    press(UP);
    expect(editor.text).toBe("first");
    press(DOWN, DOWN);
    expect(editor.text).toBe("one\ntwo");
  });
});

describe("T11: the keys of readline", () => {
  test.each([
    ["Ctrl-A", "two\x01one ", "one two"],
    ["Ctrl-E", "one\x01\x05 two", "one two"],
    ["Ctrl-B and Ctrl-F", "ac\x02b\x06d", "abcd"],
    ["Ctrl-K and Ctrl-Y", "one\x01\x0b\x19\x19", "oneone"],
    ["Ctrl-U", "one\x15two", "two"],
    ["Ctrl-W", "one two\x17three", "one three"],
    ["Ctrl-D", "one\x01\x04", "ne"],
    ["undo", "one two\x17\x1f", "one two"],
  ])("%s", (_name, keys, text) => {
    press(keys);
    expect(editor.text).toBe(text);
  });

  test("Alt-B, Alt-F and Alt-D", () => {
    press("one two", "\x1bb", "\x1bd", "\x1bb", "\x1bf", "!");
    expect(editor.text).toBe("one! ");
  });
});

describe("rows of the prompt", () => {
  test("is the text, broken between words, and the place of the cursor in it", () => {
    press("one two three");
    expect(editor.lines(9, 24)).toMatchObject({ lines: ["one two", "three"], cursor: { row: 1, column: 5 } });
    press("\x01");
    expect(editor.lines(40, 24)).toMatchObject({ lines: ["one two three"], cursor: { row: 0, column: 0 } });
  });

  test("counts a wide character as two columns", () => {
    press("漢字");
    expect(editor.lines(40, 24).cursor).toEqual({ row: 0, column: 4 });
  });

  test("a long text shows the rows around the cursor", () => {
    press(Array.from({ length: 20 }, (_, index) => `${index}`).join("\n"));
    const shown = editor.lines(40, 10);
    expect(shown.lines).toEqual(["15", "16", "17", "18", "19"]);
    expect([shown.above, shown.below]).toEqual([15, 0]);
  });

  test("a wide character in the middle of a line appears once, with the cursor after it", () => {
    press("漢字x", "\x1b[D", "日");
    expect(editor.lines(40, 24)).toMatchObject({ lines: ["漢字日x"], cursor: { row: 0, column: 6 } });
    press("\r");
    expect(sent).toEqual(["漢字日x"]);
  });

  test("a draft of 60 lines in a window of 20 is written to its end, and is sent whole", () => {
    const lines = Array.from({ length: 60 }, (_, index) => `line ${index}`);
    press(lines.join("\n"), "!");
    const shown = editor.lines(80, 20);
    expect(shown.lines.length).toBeLessThan(20);
    expect(shown.lines.at(-1)).toBe("line 59!");
    press("\r");
    expect(sent).toEqual([`${lines.join("\n")}!`]);
  });

  test("words that are deleted back over no-break spaces take no other word with them", () => {
    editor.set("one two\u202fthree\u00a0four");
    press("\x1b\x7f");
    expect(editor.text.length).toBeLessThan("one two\u202fthree\u00a0four".length);
    expect("one two\u202fthree\u00a0four".startsWith(editor.text)).toBe(true);
    expect(editor.text).toMatch(/^one /);
  });

  test("a long paste behind ! and in words stands in the message once, and Backspace behind it takes it whole", () => {
    const pasted = Array.from({ length: 12 }, (_, index) => `line ${index}`).join("\n");
    press("!cat ");
    editor.paste(pasted);
    press(" end", "\r");
    press("say ");
    editor.paste(pasted);
    press("\x7f", "that", "\r");
    expect(sent).toEqual([`!cat ${pasted} end`, "say that"]);
    editor.remember(sent[0] ?? "");
    press(UP, "\r");
    expect(sent[2]).toBe(sent[0]);
  });

  test("T16: / lists the commands with one line each; Enter completes a command, and sends the only match", async () => {
    press("/");
    expect(await suggestions()).toEqual([
      expect.stringMatching(/^❯ \/model \[name\] +take another model$/),
      expect.stringMatching(/^ {2}\/retry +ask again$/),
      expect.stringMatching(/^ {2}\/review \[n\] \| all +look$/),
      expect.stringMatching(/^ {2}\/edit #n \[text\] +change$/),
    ]);
    // The first of several suggestions is not sent unseen.
    press("\r");
    expect([editor.text, sent]).toEqual(["/model ", []]);
    press("\x15", "/re");
    await narrowedTo(2);
    press("\r");
    expect([editor.text, sent]).toEqual(["/retry ", []]);
    press("\r", "/ret");
    await narrowedTo(1);
    press("\r", "/retry");
    await suggestions();
    press("\r", "/rev");
    await narrowedTo(1);
    press("\r");
    expect(sent).toEqual(["/retry", "/retry", "/retry", "/review"]);
    expect(editor.isEmpty).toBe(true);
  });

  test("T16: Enter only completes a command that needs arguments, and the user can type them", async () => {
    press("/ed");
    await narrowedTo(1);
    press("\r");
    expect([editor.text, editor.takes, sent]).toEqual(["/edit ", "needs #n [text]", []]);
    press("#3 b");
    expect(editor.takes).toBeUndefined();
  });

  test("T16: suggestions disappear with the text for which they were made", async () => {
    press("/mo");
    await suggestions();
    press("\x15");
    expect(editor.lines(80, 24).suggestions).toEqual([]);
  });
});
