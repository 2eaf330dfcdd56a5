import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, type Answer, type Json, Session, say } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { workspaceTools } from "@banyan/tools/workspace";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Opened } from "../terminal/full/testing/opened.ts";
import { Approvals } from "./user/approvals.ts";
import { agreesToAll } from "./views/approval-mode.ts";

const [ENTER, ESC, CTRL_C, CTRL_O, CTRL_U, END, SHIFT_TAB] = ["\r", "\x1b", "\x03", "\x0f", "\x15", "\x1b[F", "\x1b[Z"];

let folder: string;
let stack: DisposableStack;
beforeEach(() => {
  // Questions accept keys after a pause.
  vi.useFakeTimers({ toFake: ["performance"] });
  folder = mkdtempSync(join(tmpdir(), "banyan-change-"));
  stack = new DisposableStack();
});
afterEach(() => {
  stack.dispose();
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

const text = (name: string) => readFileSync(join(folder, name), "utf8");

/** A user with a question about a call of the workspace's tools. */
async function asked(tool: string, input: Json, { columns = 80, rows = 30, env = {} as NodeJS.ProcessEnv } = {}) {
  const session = Session.inMemory();
  stack.defer(() => void session.close());
  const model = scriptedModel([[call(tool, input, "a call")], "Done."]);
  const agent = new Agent({ model, tools: workspaceTools({ root: folder }), permission: () => ({ decision: "ask" }) });
  const here = stack.use(new Opened(columns, rows, env));
  const runs: string[] = [];
  const asking = {
    state: session.state,
    listen: session.listen.bind(session),
    answer: (question: string, answer: Answer) => session.answer(question, answer),
    allowChanges: async (run: string) => void runs.push(run),
  };
  const approvals = new Approvals(here.terminal, here.terminal.view, { agent: "banyan" });
  void here.terminal.read({ prompt: "Reply: " });
  const ended = (async () => {
    for await (const item of agent.chat(say("Go"), { session }))
      if (item.type === "call.approval-requested") void approvals.ask(asking, item.question);
  })();
  await here.screen.until("Allow this?");
  await here.quiet();
  await here.screen.until(/^Allow this\?$/);
  return { here, ended, runs, session };
}

const LINES = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`);

describe("a question about a change", () => {
  test("T44: shows what is new in a file that is overwritten, with its numbers and three lines around it, and no line as new that is not", async () => {
    writeFileSync(join(folder, "a.txt"), `${LINES.join("\n")}\n`);
    const content = `${LINES.with(19, "another").join("\n")}\n`;
    const { here, ended } = await asked("write", { path: "a.txt", content });
    const shown = here.screen.lines.join("\n");
    expect(shown).toMatch(
      /Overwrites the existing file a\.txt \(40 lines\)\.\n +Changes a\.txt, 1 line added, 1 line removed\n +17 +line 17\n +18 +line 18\n +19 +line 19\n +20 - line 20\n +20 \+ another\n +21 +line 21\n +22 +line 22\n +23 +line 23\n\n/,
    );
    expect(shown.match(/^ +\d+ \+/gm)).toHaveLength(1);
    here.keys("y", ENTER);
    await ended;
    expect(text("a.txt")).toBe(content);
  });

  test("T44: a large new file can be read to its end in the card and on the whole screen", async () => {
    const content = Array.from({ length: 4_000 }, (_, index) => `${index + 1}: ${"x".repeat(60)}`).join("\n");
    const { here, ended } = await asked("write", { path: "new.txt", content }, { columns: 100, rows: 16 });
    await here.screen.until("New file new.txt, 4,000 lines added");
    here.keys(END);
    await here.screen.until(/^ +4000 \+ 4000: x+$/);
    here.keys(CTRL_O);
    await here.screen.until("Proposed call: write");
    here.keys(END);
    await here.screen.until(/4000 \+ 4000: x+\n(?:.*\n)*lines \d+ to 4001 of 4001 · Esc goes back/);
    here.keys(ESC);
    await here.screen.until(/Esc stops · Ctrl-O all of it · Shift\+Tab asks less/);
    await here.quiet();
    await here.screen.until(/^Allow this\?$/);
    here.keys("y", ENTER);
    await ended;
    expect(text("new.txt")).toBe(content);
  });

  test("T45: can be allowed for all changes of its turn", async () => {
    const { here, ended, runs, session } = await asked("write", { path: "a.txt", content: "one\n" });
    expect(here.screen.lines.join("\n")).toContain("t  Yes, allow all edits in this turn");
    here.keys("t", ENTER);
    await ended;
    expect(text("a.txt")).toBe("one\n");
    expect(
      session.state.messages
        .values()
        .flatMap((message) => ("run" in message ? [message.run] : []))
        .toArray(),
    ).toContain(runs[0]);
  });

  test("T45, S27: can be asked less of with Shift+Tab; who does not want everything unasked after all is back at it", async () => {
    const { here, ended } = await asked("write", { path: "a.txt", content: "one\n" });
    here.keys(SHIFT_TAB);
    await expect.poll(() => here.actions).toEqual(["approval-mode"]);
    const agreed = agreesToAll(
      here.terminal,
      (sentence) => here.terminal.view.say(sentence),
      new AbortController().signal,
    );
    await here.screen.until("Type yes to run everything without asking");
    await here.quiet();
    here.keys(ESC);
    expect(await agreed).toBe(false);
    await here.screen.until(/^Allow this\?/);
    expect(here.interrupts).toBe(0);
    await here.quiet();
    await here.screen.until(/^Allow this\?$/);
    here.keys("y", ENTER);
    await ended;
  });

  test("T46: Esc goes one level back, says so before, and stops the agent only where nothing is open", async () => {
    const { here } = await asked("write", { path: "a.txt", content: "one\n" });
    for (const key of ["n", "e"]) {
      here.keys(key, ENTER);
      await here.screen.until(/^Esc goes back/);
      here.keys(ESC);
      await here.screen.until(/^Allow this\?$[\s\S]*^Esc stops/m);
      expect(here.interrupts).toBe(0);
    }
    here.keys("e", ENTER);
    await here.screen.until(/^Esc goes back/);
    here.keys(CTRL_C);
    await expect.poll(() => here.interrupts).toBe(1);
  });

  test("T47: e opens the content, and the call writes the edited content", async () => {
    const { here, ended } = await asked("write", { path: "a.txt", content: "one\ntwo\n" });
    here.keys("e", ENTER);
    await here.screen.until(/─ content of write: ─+\none\ntwo\n/);
    here.keys("three", ENTER);
    await here.screen.until(/^ +content, 3 lines:\n +│ one\n +│ two\n +│ three$/);
    here.keys("y", ENTER);
    await ended;
    expect(text("a.txt")).toBe("one\ntwo\nthree");
  });

  test("T47: the choice `e` names its subject", async () => {
    writeFileSync(join(folder, "a.txt"), "one\n");
    const input = { path: "a.txt", old_text: "one", new_text: "two" };
    const { here, ended } = await asked("edit", input);
    expect(here.screen.lines.join("\n")).toContain("e  Edit the new text first");
    here.keys("e", ENTER);
    await here.screen.until(/─ new text of edit: ─+\ntwo$/);
    here.keys("!", ENTER);
    await here.screen.until("two!");
    here.keys("y", ENTER);
    await ended;
    expect(text("a.txt")).toBe("two!\n");
  });

  test("T47: a long content opens in the editor of the person, under its own name", async () => {
    const editor = join(folder, "editor.sh");
    writeFileSync(editor, 'basename "$1" > "$0.name"; echo last >> "$1"\n');
    const content = `${LINES.join("\n")}\n`;
    const { here, ended } = await asked(
      "write",
      { path: "src/a.ts", content },
      {
        env: { EDITOR: `sh ${editor}`, PATH: process.env.PATH },
      },
    );
    here.keys("e", ENTER);
    await here.screen.until(/content, 41 lines:/);
    here.keys("y", ENTER);
    await ended;
    expect(text("src/a.ts")).toBe(`${content}last`);
    expect(text("editor.sh.name")).toBe("a.ts\n");
  });

  test("T47: e opens a command as a line", async () => {
    const { here, ended, session } = await asked("shell", { command: "echo one", timeout: 5_000 });
    here.keys("e", ENTER);
    await here.screen.until(/─ command of shell: ─+\necho one$/);
    here.keys(CTRL_U, "echo two", ENTER);
    await here.screen.until(/^ +echo two$/);
    here.keys("y", ENTER);
    await ended;
    const [, answer] = [...session.state.messages.values()];
    expect(answer?.role === "assistant" && answer.calls[0]).toMatchObject({
      executedInput: { command: "echo two", timeout: 5_000 },
      output: "two\n",
    });
  });
});
