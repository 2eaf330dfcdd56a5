import type { QuestionField } from "@banyan/core/conversation";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { FilledForm, Form } from "../questions/question.ts";
import type { Opened } from "./testing/opened.ts";
import { open } from "./testing/opened.ts";

const ENTER = "\r";
const ESC = "\x1b";
const UP = "\x1b[A";
const DOWN = "\x1b[B";

// Questions accept keys after a pause.
beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

const colour: QuestionField = {
  heading: "Colour",
  text: "Which one?",
  choices: [{ label: "red", description: "as a brick" }, { label: "blue" }],
};
const sizes: QuestionField = {
  heading: "Sizes",
  text: "Which of them?",
  several: true,
  choices: [{ label: "small" }, { label: "large" }, { label: "huge" }],
};

/** Opens a form and waits until it accepts keys. */
async function filling(here: Opened, fields: readonly QuestionField[], more: Partial<Form> = {}) {
  const form: Form = { title: "banyan asks:", text: "How shall it look?", fields, begun: [], ...more };
  const filled: Promise<FilledForm | undefined> = here.terminal.fill(form);
  await here.screen.until("banyan asks:");
  await here.quiet();
  return filled;
}

/** Opens a form without waiting for its end. */
async function form(here: Opened, fields: readonly QuestionField[], more: Partial<Form> = {}) {
  const filled = filling(here, fields, more);
  await here.screen.until(/banyan asks:[\s\S]*Your own answer:/);
  await here.quiet();
  return { filled };
}

describe("C12, S14: a form in the full terminal", () => {
  test("is not filled in by keys that were typed as it appeared, nor by Enter alone", async () => {
    const here = open();
    const filled = filling(here, [colour]);
    here.keys(ENTER);
    await here.screen.until(/1 \( \) red\n +as a brick\n +2 \( \) blue/);
    await here.quiet();
    here.keys(ENTER);
    await here.screen.until("Choose an answer first.");
    here.keys(DOWN, DOWN, ENTER);
    expect(await filled).toEqual([{ chosen: ["blue"], words: "" }]);
  });

  test("a digit chooses; Space chooses several; all answers are shown before they are sent", async () => {
    const here = open();
    const { filled } = await form(here, [colour, sizes]);
    await here.screen.until("1 of 2 · Colour: Which one?");
    here.keys("1", ENTER);
    await here.screen.until("2 of 2 · Sizes: Which of them?");
    here.keys(DOWN, " ", DOWN, " ", " ", UP, "3");
    await here.screen.until(/1 \[x\] small\n.*2 \[ \] large\n.*3 \[x\] huge/);
    here.keys(ENTER);
    await here.screen.until(/Colour: red\n +Sizes: small, huge\nEnter sends all answers/);
    here.keys(ENTER);
    expect(await filled).toEqual([
      { chosen: ["red"], words: "" },
      { chosen: ["small", "huge"], words: "" },
    ]);
  });

  test("own words complete or replace a choice; Enter begins them", async () => {
    const here = open();
    const written: [number, string][] = [];
    const { filled } = await form(here, [colour, sizes], { onWords: (field, words) => written.push([field, words]) });
    here.keys(DOWN, " ", UP, ENTER, "b", "u", "t", " dark", ENTER);
    await here.screen.until("2 of 2");
    here.keys("4", ENTER, "none", ENTER, ENTER);
    expect(await filled).toEqual([
      { chosen: ["red"], words: "but dark" },
      { chosen: [], words: "none" },
    ]);
    expect(written.at(-1)).toEqual([1, "none"]);
  });

  test("T46: Esc goes one level back, and stops the agent only at the first", async () => {
    const here = open();
    const { filled } = await form(here, [colour, sizes]);
    here.keys("2", ENTER);
    await here.screen.until("2 of 2");
    here.keys(UP, ENTER, "x");
    await here.screen.until("Esc goes back to the choices");
    here.keys(ESC);
    await here.screen.until(/^Esc goes back$/m);
    here.keys(ESC);
    await here.screen.until(/1 of 2[\s\S]*^Esc stops the agent$/m);
    expect(here.interrupts).toBe(0);
    here.keys(ESC);
    expect(await filled).toBeUndefined();
    expect(here.interrupts).toBe(1);
  });

  test("a form shows its draft; a signal closes the form without an interrupt", async () => {
    const here = open();
    const answered = new AbortController();
    const { filled } = await form(here, [colour], { begun: ["but dark"], signal: answered.signal });
    await here.screen.until("Your own answer: but dark");
    answered.abort();
    expect(await filled).toBeUndefined();
    expect(here.interrupts).toBe(0);
  });

  test("T58: at 40 x 10 the choice under the bar is seen, and a key shows all of it", async () => {
    const here = open(40, 10);
    const many = { ...sizes, choices: Array.from({ length: 12 }, (_, at) => ({ label: `size ${at + 1}` })) };
    void filling(here, [many]);
    await here.screen.until("1 [ ] size 1");
    await here.quiet();
    here.keys(UP, UP);
    await here.screen.until(/❯ 12 \[ \] size 12/);
    here.keys("\x0f");
    await here.screen.until(/How shall it look\?[\s\S]*Sizes: Which of them\?/);
  });
});
