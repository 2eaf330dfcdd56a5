import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { open } from "./testing/opened.ts";

const ENTER = "\r";
const CTRL_C = "\x03";
const TAB = "\t";

// Questions accept keys after a pause.
beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

describe("a decision", () => {
  const question = {
    title: "banyan asks to run shell",
    body: ["rm -rf build"],
    question: "Allow this?",
    choices: [
      { key: "y", text: "Yes, once" },
      { key: "n", text: "No, and say why", takesWords: "Reason (optional)" },
    ],
  };

  test("S14, T27: is not made by keys that were typed as it appeared, nor by Enter, nor by a stray key", async () => {
    const here = open();
    const decided = here.terminal.decide(question);
    await here.screen.until("Allow this? …");
    here.keys(ENTER);
    await here.quiet();
    await here.screen.until(/^Allow this\?$/);
    here.keys(ENTER);
    await here.screen.until("Press y or n, then Enter.");
    here.keys("q");
    await here.screen.until(/Tab moves to the question ─\nq$/m);
    here.keys("\x7f", "y");
    await here.screen.until("❯ y  Yes, once");
    here.keys(ENTER);
    expect(await decided).toEqual({ key: "y" });
  });

  test("S14: is not made by a message that is being typed; the message stays", async () => {
    const here = open();
    const message = here.reads();
    here.keys("say yes or");
    await here.screen.until("say yes or");
    const decided = here.terminal.decide(question);
    await here.screen.until("Allow this?");
    here.keys(" n");
    await here.screen.until("say yes or n");
    await here.quiet();
    here.keys(TAB);
    await here.screen.until(/^Allow this\?$/);
    here.keys("y", ENTER);
    expect(await decided).toEqual({ key: "y" });
    here.keys("o", ENTER);
    expect(await message).toBe("say yes or no");
  });

  test("T25: the card itself names the wait and the effect of Esc", async () => {
    const here = open();
    here.begins();
    here.calls("c", "shell", { command: "rm -rf build" });
    here.happens({ type: "call.approval-requested", message: "a", call: "c", question: "q" });
    await here.screen.until(/Waiting for you(, \d+ s)? \(Esc to stop\)/);
    const decided = here.terminal.decide({ ...question, stops: true, again: true });
    const asked = await here.screen.until(/banyan asks to run shell ─[\s\S]*^Esc stops$/m);
    expect(asked).not.toContain("Waiting for you, ");
    here.keys("y", ENTER);
    await decided;
    await here.screen.until(/Waiting for you(, \d+ s)? \(Esc to stop\)/);
  });

  test("T27: may come with words", async () => {
    const here = open();
    const decided = here.terminal.decide({ ...question, again: true });
    await here.screen.until("Allow this?");
    here.keys("n", ENTER);
    await here.screen.until("Reason (optional):");
    here.keys("not now", ENTER);
    expect(await decided).toEqual({ key: "n", words: "not now" });
  });

  test("S14: the key for the first decision does not answer the second", async () => {
    const here = open();
    const first = here.terminal.decide({ ...question, again: true });
    const second = here.terminal.decide({ ...question, title: "and again" });
    await here.screen.until("banyan asks to run shell");
    here.keys("y", ENTER, ENTER);
    expect(await first).toEqual({ key: "y" });
    await here.screen.until("and again");
    await here.quiet();
    await here.screen.until(/^Allow this\?$/);
    here.keys("n", ENTER, ENTER);
    expect(await second).toEqual({ key: "n" });
  });

  test("is none when it is taken back, or when Ctrl-C interrupts instead", async () => {
    const here = open();
    const asked = new AbortController();
    const taken = here.terminal.decide({ ...question, again: true, signal: asked.signal });
    asked.abort();
    expect(await taken).toBeUndefined();
    expect(here.interrupts).toBe(0);
    const interrupted = here.terminal.decide({ ...question, again: true });
    here.keys(CTRL_C);
    expect(await interrupted).toBeUndefined();
    expect(here.interrupts).toBe(1);
  });

  test("T27: the card shows the whole call, and a long call can be scrolled", async () => {
    const here = open(80, 16);
    const body = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`);
    const decided = here.terminal.decide({ ...question, body, again: true });
    await here.screen.until("more lines: PgUp and PgDn move");
    here.keys(...Array(40).fill("\x1b[6~"));
    await here.screen.until("line 40");
    here.keys("y", ENTER);
    await decided;
  });

  test.each([
    [40, 10],
    [30, 9],
  ])("T26, T27: at %i columns and %i rows the card names the place of the call and the keys", async (columns, rows) => {
    const here = open(columns, rows);
    const title = "banyan asks to run shell in /home/somebody/projects/gardening";
    const brief = ["yes", "always here", "always in this project", "change", "no"];
    const choices = brief.map((text, index) => ({ key: "yaAen"[index] ?? "", text, brief: text, holdsOn: index < 3 }));
    const body = ["command", "  npm run build -- --with --many --words --that --fill --lines", "a warning"];
    const decided = here.terminal.decide({ ...question, title, body, choices, again: true, stops: true });
    const shown = await here.screen.until("Allow this?");
    expect(shown.replaceAll("\n", "")).toContain("gardening");
    expect(shown).toMatch(/Esc stops/);
    here.keys("y", ENTER);
    await decided;
  });

  test("Enter answers a question in words, and the suggested answer can be edited", async () => {
    const here = open();
    const answer = here.terminal.ask({ prompt: "Arguments: ", initial: '{"a":1}', again: true });
    await here.screen.until('{"a":1}');
    here.keys("\x1b[D", "0", ENTER);
    expect(await answer).toBe('{"a":10}');
  });
});
