import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Home, home } from "../../testing/banyan.ts";
import { modelServer } from "../../testing/model-server.ts";
import { hasTmux, Pty } from "../../testing/pty.ts";

const SIZES = [
  [60, 20],
  [40, 12],
  [90, 30],
  [30, 10],
  [100, 40],
  [50, 24],
] as const;

const DEMO = ["--model", "demo/offline"];

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

/** Waits until the shell has the terminal. Returns whether its modes are restored. */
async function restored(pty: Pty): Promise<boolean> {
  pty.enter("stty -a | grep -q ' icanon.* echo ' && echo 'all is' well");
  return (await pty.until("all is well")) !== "";
}

// These tests run the command in a shell with job control in tmux.
describe.skipIf(!hasTmux)("in a real terminal", () => {
  test("T8: Ctrl-Z goes to the background, and fg comes back with what was typed", async () => {
    using pty = await Pty.shell(place);
    pty.start(...DEMO);
    await pty.prompted();
    pty.type("half a thought");
    await pty.until("half a thought");
    pty.press("C-z");
    await pty.until("Stopped");
    expect(await restored(pty)).toBe(true);
    pty.enter("fg");
    await pty.until(/^─ Reply to banyan: ─+\nhalf a thought$/);
    pty.type(", and the rest");
    await pty.until("half a thought, and the rest");
    const written = await pty.written(", and the rest");
    expect(written.includes("\x1b[2J") || written.includes("\x1b[3J")).toBe(false);
  });

  test("while the agent works, nothing is written that rings the bell, also under GNU screen", async () => {
    const calls = [{ tool: "shell", input: { command: "sleep 0.5; echo done" } }];
    await using server = await modelServer(
      { calls },
      { text: Array.from({ length: 40 }, (_, index) => `word ${index} `), pace: 20 },
    );
    using pty = await Pty.shell(place, { ...server.env, TERM: "screen", STY: "1234.pts-0.host" });
    pty.start("--allow", "shell", "--model", "openai-compatible/test");
    await pty.prompted();
    await pty.exchange("go", "word 39");
    expect(await pty.written("word 39")).not.toContain("\x07");
  });

  test("six changes of the width at the prompt leave one welcome and one prompt", async () => {
    using pty = Pty.open(place, DEMO);
    const first = await pty.prompted();
    const [welcome = ""] = first.trim().split("\n");
    expect(welcome).not.toBe("");
    const times = (screen: string, text: string) => screen.split(text).length - 1;
    for (const [columns] of SIZES) {
      pty.resize(columns, 40);
      await sleep(300);
    }
    pty.resize(100, 40);
    await sleep(1_000);
    const screen = await pty.prompted();
    expect([times(screen, "Reply to banyan:"), times(screen, welcome)], `${first}\n---\n${screen}`).toEqual([1, 1]);
  });

  test("T11: Ctrl-G opens what is typed in $VISUAL, and takes what was saved", async () => {
    using pty = await Pty.shell(place, { VISUAL: "sed -i s/half/whole/" });
    pty.start(...DEMO);
    await pty.prompted();
    pty.type("half a thought");
    await pty.until("half a thought");
    pty.press("C-g");
    await pty.until(/^─ Reply to banyan: ─+\nwhole a thought$/);
  });

  test.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("T31: %s gives the terminal back, also in the middle of a list", async (signal, code) => {
    using pty = await Pty.shell(place);
    pty.start(...DEMO);
    await pty.prompted();
    pty.press("C-r");
    await pty.until("Your earlier messages");
    pty.enter("");
    pty.kill(signal);
    await pty.until(/^shell> *(?![\s\S])/);
    pty.enter('echo "[exit $?]"');
    await pty.until(`[exit ${code}]`);
    expect(await restored(pty)).toBe(true);
    const written = await pty.written("all is well");
    for (const [on, off] of [
      ["\x1b[?2004h", "\x1b[?2004l"],
      ["\x1b[>1u", "\x1b[<u"],
    ] as const) {
      const ours = written.slice(written.indexOf("\x1b[>1u"));
      expect(ours.lastIndexOf(off)).toBeGreaterThan(ours.indexOf(on));
    }
  });

  test("T31: after kill -9 the shell has its lines and echo, the cursor and its colours; that keys are told apart remains", async () => {
    using pty = await Pty.shell(place);
    pty.start(...DEMO);
    await pty.prompted();
    pty.kill("SIGKILL");
    await pty.until("Killed");
    const written = await pty.written("Killed");
    const ours = written.slice(written.indexOf("\x1b[>1u"), written.indexOf("Killed"));
    expect(ours.lastIndexOf("\x1b[?25h")).toBeGreaterThanOrEqual(ours.lastIndexOf("\x1b[?25l"));
    const colours = ours.split("\x1b[").filter((sequence) => /^[\d;]*m/.test(sequence));
    expect(colours.at(-1) ?? "0m").toMatch(/^(0|22|39|49)?m/);
    expect(ours).not.toContain("\x1b[<u");
    expect(await restored(pty)).toBe(true);
  });

  test("T31: after a defect the terminal works again, with the error below the earlier text", async () => {
    const defect = join(place.workspace, "defect");
    const thrown = `import { existsSync } from "node:fs";
      setInterval(() => { if (existsSync(${JSON.stringify(defect)})) throw new Error("a defect of ours"); }, 20).unref();`;
    const url = `data:text/javascript,${encodeURIComponent(thrown)}`;
    using pty = await Pty.shell(place, { NODE_OPTIONS: `--import=${url}` });
    pty.start(...DEMO);
    await pty.prompted();
    pty.type("half a thought");
    await pty.until("half a thought");
    writeFileSync(defect, "");
    expect(await pty.until("Error: a defect of ours")).not.toContain("half a thought");
    expect(await restored(pty)).toBe(true);
  });

  test("T61: 24 resizes while 500 lines stream: all of them are in the scrollback, once and in order", async () => {
    const lines = Array.from({ length: 500 }, (_, line) => `- w${line} and more words, which go on for a while\n`);
    await using server = await modelServer({ text: lines, pace: 8 });
    using pty = Pty.open(place, ["--model", "openai-compatible/test"], server.env);
    await pty.prompted();
    pty.enter("go");
    for (let index = 0; index < 24; index++) {
      const [columns, rows] = SIZES[index % SIZES.length] ?? [80, 24];
      pty.resize(columns, rows);
      // Lines stream meanwhile. tmux reports sizes at most every quarter of a second.
      await sleep((index % 3) * 100);
    }
    await pty.until("w499 ");
    const screen = await pty.prompted();
    expect(screen.match(/\bw\d+/g)).toEqual(lines.map((_, line) => `w${line}`));
  });

  test("T31: a mistake that is found at the start leaves nothing of the terminal's answers in the shell", async () => {
    using pty = await Pty.shell(place);
    pty.start("--model", "nobody/nothing");
    await pty.until("banyan: There is no provider");
    expect(await pty.until(/^shell> *(?![\s\S])/)).not.toContain("Starting");
    expect(await restored(pty)).toBe(true);
  });
});
