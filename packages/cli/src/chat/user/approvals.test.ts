import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Home, home } from "../../testing/banyan.ts";
import { links } from "../../testing/links.ts";
import { modelServer, shell } from "../../testing/model-server.ts";
import { hasTmux } from "../../testing/pty.ts";

const MODEL = ["--model", "openai-compatible/test"];

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

describe.skipIf(!hasTmux).each(links)("an approval ($link)", ({ open }) => {
  const made = (name: string) => existsSync(join(place.workspace, name));

  test("S14, T27: is given by no Enter and no stray key, only by a choice", async () => {
    await using server = await modelServer(shell("touch made.txt"), { text: "Made." });
    using pty = await open(place, MODEL, server.env);
    await pty.prompted();
    pty.enter("make it");
    const shown = await pty.asked();
    expect(shown.replaceAll("\n", "")).toMatch(/banyan asks to run shell in .* {2}touch made\.txt/);
    pty.press("Enter");
    await pty.until(/^Press y[^.]* or n, then Enter\./);
    pty.press("Enter");
    await pty.until(/^Press y[^.]* or n, then Enter\./);
    expect(made("made.txt")).toBe(false);
    pty.press("y", "Enter");
    await pty.until("Made.");
    expect(made("made.txt")).toBe(true);
  });

  test("S14: is not given by what was typed before the question was there", async () => {
    const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
    await using server = await modelServer(
      { text: ["I ", "think ", "so."], held, ...shell("touch made.txt") },
      { text: "Well." },
    );
    using pty = await open(place, MODEL, server.env);
    await pty.prompted();
    pty.enter("make it");
    await pty.until(/^I *$/);
    pty.type("y");
    await pty.until(/^─ Reply to banyan: .*\ny$/);
    goOn();
    await pty.until("Tab moves to the question");
    pty.press("Tab");
    await pty.asked();
    expect(made("made.txt")).toBe(false);
    pty.press("n", "Enter");
    await pty.until("Reason (optional):");
    pty.enter("not now");
    await pty.until("Well.");
    expect(made("made.txt")).toBe(false);
    expect(JSON.stringify(server.asked[1])).toContain("The user denied this call: not now");
    expect(await pty.until(/^─ Reply to banyan: .*\ny$/)).toContain("Well.");
  });

  test("B23, T27: always, for the conversation, asks no second time; nor do calls that wait already", async () => {
    const twice = { calls: ["a", "b"].map((name) => ({ tool: "shell", input: { command: `touch ${name}.txt` } })) };
    await using server = await modelServer(twice, shell("touch c.txt"), { text: "All made." });
    using pty = await open(place, ["--color", "never", ...MODEL], server.env);
    await pty.prompted();
    pty.enter("make them");
    expect(await pty.asked()).toContain("Yes, and don't ask again for `touch ...` in this conversation");
    pty.press("a", "Enter");
    await pty.until("All made.");
    // A question shows the command alone; the transcript shows it after the tool's name.
    const asked = (await pty.written("All made.")).matchAll(/(?<!shell) {2}touch (.)\.txt/g);
    expect(new Set(Array.from(asked, ([, name]) => name))).toEqual(new Set(["a"]));
    expect(["a.txt", "b.txt", "c.txt"].map(made)).toEqual([true, true, true]);
  });

  test("B23: always, for good, is in the settings", async () => {
    await using server = await modelServer(shell("touch made.txt"), { text: "Made." });
    using pty = await open(place, MODEL, server.env);
    await pty.prompted();
    pty.enter("make it");
    await pty.asked();
    pty.press("A", "Enter");
    await pty.until("Made.");
    const settings = readFileSync(join(place.env.BANYAN_HOME ?? "", "config", "settings.json"), "utf8");
    expect(JSON.parse(settings)).toEqual({ permissions: { allow: ["shell(touch [harmless])"] } });
  });

  test("B23, B73, T27: changed arguments run after they were shown; invalid arguments are refused, and the question stays", async () => {
    await using server = await modelServer(shell("touch made.txt"), { text: "Made." });
    using pty = await open(place, MODEL, server.env);
    await pty.prompted();
    pty.enter("make it");
    await pty.asked();
    pty.press("e", "Enter");
    await pty.until(/─ command of shell: ─+\ntouch made\.txt$/);
    pty.press("C-u", "Enter");
    await pty.until(/^ {2}command$/);
    pty.press("y", "Enter");
    await pty.until(/^Not answered: The arguments do not match the tool's schema: at command: /);
    // Keys count after a pause since the question appeared (S14).
    for (; !pty.screen().includes("command of shell:"); await sleep(400)) pty.press("e", "Enter");
    pty.press("C-u");
    pty.enter("touch other.txt");
    await pty.until(/^ {2}touch other\.txt$/);
    for (; !pty.screen().match(/^Press y[^.]* or n, then Enter\./m); await sleep(400)) pty.press("Enter");
    expect(made("other.txt")).toBe(false);
    pty.press("y", "Enter");
    await pty.until("Made.");
    expect([made("made.txt"), made("other.txt")]).toEqual([false, true]);
  });

  test("F72: may wait longer than the turn's time limit, whose clock stops", async () => {
    await using server = await modelServer(shell("touch made.txt"), { text: "In time." });
    using pty = await open(place, MODEL, { ...server.env, BANYAN_TIMEOUT: "4" });
    await pty.prompted();
    pty.enter("make it");
    await pty.written("Allow this?");
    await sleep(4_500);
    pty.press("y", "Enter");
    await pty.until("In time.");
    expect(made("made.txt")).toBe(true);
  });

  test("T39: in plain lines is a number, and no cursor is moved", async () => {
    const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
    await using server = await modelServer(
      { text: ["I ", "think."], held, ...shell("touch made.txt") },
      { text: "Made." },
    );
    using pty = await open(place, ["--plain", "--color", "never", ...MODEL], server.env);
    await pty.prompted();
    pty.enter("make it");
    await pty.until(/^I *$/);
    pty.type("1");
    // The system echoes typed characters.
    await pty.until(/^I +1$/);
    goOn();
    expect(await pty.until("Allow this?")).toMatch(
      /1 {2}Yes, once\n {2}2 {2}Yes, and don't ask again for `touch \.\.\.` in this conversation/,
    );
    pty.press("Enter");
    // The user began this line before the question, so the line is sent as a message.
    expect(made("made.txt")).toBe(false);
    pty.press("Enter");
    await pty.until("You have not decided yet.");
    pty.enter("1");
    await pty.until("Made.");
    expect(made("made.txt")).toBe(true);
    await pty.prompted();
    pty.press("C-c");
    await pty.until("Press Ctrl-C again to exit");
    pty.press("C-d");
    await pty.until("[exit 0]");
    expect(await pty.written("[exit 0]")).not.toContain("\x1b");
  });
});
