import { setImmediate } from "node:timers/promises";
import { emptyConversation, reduce } from "@banyan/core";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { random, sentence } from "../../testing/sentences.ts";
import { type Opened, open } from "./testing/opened.ts";
import { TreeView } from "./views/tree-view.ts";

const ENTER = "\r";
const ESC = "\x1b";
const DOWN = "\x1b[B";
const TAB = "\t";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

const DECISION = {
  title: "banyan asks to run shell",
  body: ["rm -rf build"],
  question: "Allow this?",
  choices: [
    { key: "y", text: "Yes, once" },
    { key: "a", text: "Yes, and don't ask again" },
    { key: "A", text: "Always allow" },
    { key: "n", text: "No, and say why", takesWords: "Reason (optional)" },
  ],
};
const FILES = {
  ...DECISION,
  question: "What should happen to these files?",
  choices: [
    { key: "k", text: "Keep" },
    { key: "r", text: "Restore" },
    { key: "d", text: "Show" },
  ],
};
const colour = { heading: "Colour", text: "Which one?", choices: [{ label: "red" }, { label: "blue" }] };
const sizes = { heading: "Sizes", text: "Which?", several: true, choices: [{ label: "small" }, { label: "huge" }] };
const form = { title: "banyan asks:", text: "How?", begun: [] };

/** Asks one question of each kind. Resolves with the answer, or with undefined if there was none. */
const KINDS: readonly ((here: Opened, signal: AbortSignal, answered: (what: unknown) => void) => Promise<unknown>)[] = [
  (here, signal) => here.terminal.decide({ ...DECISION, signal }),
  (here, signal) => here.terminal.decide({ ...FILES, signal, again: true }),
  (here, signal) => here.terminal.fill({ ...form, fields: [colour], signal }),
  (here, signal) => here.terminal.fill({ ...form, fields: [colour], chosen: [["red"]], begun: ["so"], signal }),
  (here, signal) => here.terminal.fill({ ...form, fields: [sizes, colour], signal }),
  (here, signal) => here.terminal.ask({ prompt: "Your answer: ", initial: "a default", signal }),
  (here, signal) => here.terminal.ask({ prompt: "Type yes: ", isOver: true, onBack() {}, signal }),
  (here, signal, answered) => here.terminal.open(tree(answered), signal),
];

function tree(answered: (what: unknown) => void): TreeView {
  const state = emptyConversation();
  for (const [index, message] of ["a", "b", "c"].entries())
    reduce(state, {
      seq: index + 1,
      epoch: 1,
      at: 0,
      type: "message.added",
      message,
      parentId: index === 0 ? null : "a",
      role: "user",
      author: "user",
      parts: [{ type: "text", text: message }],
    });
  return new TreeView({ state, agent: "banyan", leaf: "c", onLabel: answered, onStar: answered });
}

describe("T64, S14: text is never an answer", () => {
  test.each([{ vim: false }, { vim: true }])(
    "1,000 sentences, typed at 20 to 600 ms a key around every kind of question, give 0 answers, vi: $vim",
    async ({ vim }) => {
      const here = open();
      here.terminal.configure({ vim });
      const next = random(vim ? 7 : 11);
      const answers: unknown[] = [];
      const asked = new Set<AbortController>();
      const ask = () => {
        const gone = new AbortController();
        const kind = KINDS[Math.floor(next() * KINDS.length)];
        asked.add(gone);
        const answered = (what: unknown) => answers.push(what);
        void kind?.(here, gone.signal, answered).then((answer) => {
          asked.delete(gone);
          if (answer !== undefined) answered(answer);
        });
      };
      /** Another client answers a question. */
      const answeredElsewhere = () => [...asked][Math.floor(next() * asked.size)]?.abort();
      const texts: string[] = [];
      for (let count = 0; count < 1_000; count++) {
        const text = sentence(next);
        texts.push(text);
        const pace = 20 + next() * 580;
        for (const key of [...text, ENTER]) {
          if (next() < 0.08 && asked.size < 3) ask();
          if (next() < 0.04) answeredElsewhere();
          here.keys(key);
          await setImmediate();
          vi.advanceTimersByTime(pace);
        }
        // In vi's NORMAL mode, letters are commands of the prompt.
        if (vim && next() < 0.3) here.keys("x", ESC);
        expect({ text, answers }).toEqual({ text, answers: [] });
      }
      // Every character is in a message.
      if (!vim) expect(here.typed.map(([message]) => squeezed(message))).toEqual(texts.map(squeezed));
    },
  );

  test("a second printing key moves both into the prompt; Tab or an arrow moves back, and the text stays", async () => {
    const here = open();
    const decided = here.terminal.decide(DECISION);
    await here.screen.until("Allow this? …");
    await here.quiet();
    here.keys("y");
    await here.screen.until(/^ *❯ y {2}Yes, once\n[\s\S]*^Allow this\? Enter confirms\.$/m);
    here.keys("e");
    expect(await here.screen.until(/─ Tab moves to the question ─\nye$/m)).not.toContain("❯");
    here.keys("s, do", ENTER);
    await expect.poll(() => here.typed).toEqual([["yes, do", false]]);
    here.keys("later");
    await here.screen.until(/^later$/m);
    here.keys(TAB);
    await here.screen.until(/^Allow this\?$/m);
    here.keys(DOWN, DOWN, ENTER);
    expect(await decided).toEqual({ key: "a" });
    await here.screen.until(/^later$/m);
  });

  test("Backspace takes a mark back, and Enter alone decides nothing", async () => {
    const here = open();
    const decided = here.terminal.decide({ ...DECISION, again: true });
    await here.screen.until("Allow this?");
    here.keys("y", "\x7f", ENTER);
    await here.screen.until("Press y, a, A or n, then Enter.");
    here.keys("a", ENTER);
    expect(await decided).toEqual({ key: "a" });
  });
});

function squeezed(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
