import { describe, expect, test } from "vitest";
import { styleFor } from "../show/style.ts";
import type { Terminal } from "./contract/terminal.ts";
import { choiceIn, decideByLine } from "./decide-by-line.ts";
import { pick } from "./pick.ts";
import type { DecisionChoice } from "./questions/decision.ts";

const CHOICES: readonly DecisionChoice[] = [
  { key: "y", text: "Yes, once" },
  { key: "a", text: "always, in this conversation" },
  { key: "A", text: "always, for good" },
  { key: "n", text: "no", takesWords: "Reason (optional)" },
];

describe("S14: a typed line is a choice only if the choice is offered", () => {
  test.each([
    "",
    " ",
    "q",
    "yy",
    "yes",
    "no",
    "Y",
    "yes please",
    "no way",
    "4 words",
    "ok",
    "0",
    "12",
    "\x1b",
    "y\ny",
    "y: do",
  ])("%j is none", (line) => {
    expect(choiceIn(line, CHOICES)).toBeUndefined();
  });

  test("by letter or number", () => {
    expect(["y", " y ", "1"].map((line) => choiceIn(line, CHOICES)?.key)).toEqual(Array(3).fill("y"));
    expect(["a", "A", "2", "3"].map((line) => choiceIn(line, CHOICES)?.key)).toEqual(["a", "A", "a", "A"]);
    expect(choiceIn("n", CHOICES)).toEqual({ key: "n" });
  });

  test("with words where they are asked for", () => {
    expect(choiceIn("n: use npm test", CHOICES)).toEqual({ key: "n", words: "use npm test" });
    expect(choiceIn("4: there is a script\nfor that", CHOICES)).toEqual({
      key: "n",
      words: "there is a script\nfor that",
    });
  });
});

describe("T39: in plain lines", () => {
  /** Output of a terminal with 40 columns after one typed line. */
  function typing(line: string) {
    let shown = "";
    const terminal = {
      style: styleFor(process.stdout, "never"),
      columns: 40,
      numbered: true,
      live: undefined,
      freshLine() {},
      write(text: string) {
        shown += text;
      },
      ask: async () => line,
    } as unknown as Terminal;
    return { terminal, shown: () => shown };
  }

  test("a choice that is too long goes on below its words", async () => {
    const here = typing("1");
    const choices = [{ key: "a", text: "always shell(node --test fail.test.mjs), in this conversation" }];
    await decideByLine(here.terminal, { title: "banyan asks", body: [], question: "Allow this?", choices });
    expect(here.shown()).toBe(
      "\nbanyan asks\n  1  always shell(node --test\n     fail.test.mjs), in this\n     conversation\n",
    );
  });

  test("the help texts of a list's items are in one column", async () => {
    const here = typing("1");
    const items = ["one", "three"].map((label) => ({ value: label, label, help: "$3 in" }));
    expect(await pick(here.terminal, { title: "Models", items, selected: "one" })).toBe("one");
    expect(here.shown()).toBe("Models\n  1  one    $3 in  (now)\n  2  three  $3 in\n");
  });
});
