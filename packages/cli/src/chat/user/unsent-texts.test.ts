import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { home } from "../../testing/banyan.ts";
import { modelServer } from "../../testing/model-server.ts";
import { hasTmux, Pty } from "../../testing/pty.ts";
import { UnsentTexts } from "./unsent-texts.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "banyan-unsent-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const fail = (error: unknown) => {
  throw error;
};
const unsentFor = (whom: string) => new UnsentTexts(join(folder, "drafts"), whom, fail);
const files = () => readdirSync(join(folder, "drafts"));

describe("T19: unsent text", () => {
  test("appears once, for the next process that opens the conversation", () => {
    const one = unsentFor("a conversation");
    one.draft("half a thought");
    one.close();
    expect(unsentFor("another").takeOver()).toBe("");
    const next = unsentFor("a conversation");
    expect(next.takeOver()).toBe("half a thought");
    expect(next.takeOver()).toBe("");
  });

  test("survives a killed process with the id of the new process, as in a container", async () => {
    const killed = unsentFor("a conversation");
    killed.draft("half a thought");
    await setImmediate();
    const next = unsentFor("a conversation");
    expect(next.takeOver()).toBe("half a thought");
    next.draft("half a thought");
    await setImmediate();
    expect(next.takeOver()).toBe("");
  });

  test("is in a file after all keys of one read, and without text there is no file", async () => {
    const one = unsentFor("a conversation");
    for (const text of ["h", "ha", "hal"]) one.draft(text);
    await setImmediate();
    expect(files()).toHaveLength(1);
    one.draft(" ");
    await setImmediate();
    expect(files()).toEqual([]);
  });

  test("stays with a message in transit until the message has arrived", () => {
    const one = unsentFor("a conversation");
    const first = one.sending("first");
    one.sending("second");
    one.draft("third");
    first[Symbol.dispose]();
    one.close();
    const next = unsentFor("a conversation");
    next.draft("typed meanwhile");
    expect(next.takeOver()).toBe("second\nthird");
    next.close();
    expect(unsentFor("a conversation").takeOver()).toBe("second\nthird\ntyped meanwhile");
  });

  test("moves to the conversation that the first message began", () => {
    const one = unsentFor("/a/directory");
    one.draft("half a thought");
    one.moveTo("a conversation");
    one.close();
    expect(unsentFor("/a/directory").takeOver()).toBe("");
    expect(unsentFor("a conversation").takeOver()).toBe("half a thought");
  });

  test("stays with a living process, and leaves a killed process", async () => {
    const script = `const { UnsentTexts } = await import(${JSON.stringify(new URL("./unsent-texts.ts", import.meta.url).href)});
      new UnsentTexts(${JSON.stringify(join(folder, "drafts"))}, "a conversation", console.error).draft("half a thought");
      setImmediate(() => process.stdout.write("kept"));
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script]);
    await once(child.stdout, "data");
    const next = unsentFor("a conversation");
    expect(next.takeOver()).toBe("");
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(next.takeOver()).toBe("half a thought");
  });

  test("that cannot be stored causes one message, and nothing else", async () => {
    writeFileSync(join(folder, "drafts"), "no folder");
    const failures: unknown[] = [];
    const one = new UnsentTexts(join(folder, "drafts"), "a conversation", (error) => failures.push(error));
    for (const text of ["a", "ab"]) {
      one.draft(text);
      await setImmediate();
    }
    expect(failures).toMatchObject([{ code: "EEXIST" }]);
  });
});

test.skipIf(!hasTmux)("T19: in plain lines, the lines of a message that was not ended are told again", async () => {
  using place = home();
  {
    using pty = Pty.open(place, ["--plain"]);
    await pty.prompted();
    pty.enter("one \\");
    await pty.until(/^…$/);
    pty.enter("two \\");
    await pty.until(/^… two \\\n…$/);
    pty.kill("SIGKILL");
    await pty.until("[exit 137]");
  }
  using pty = Pty.open(place, ["--plain"]);
  expect(await pty.prompted()).toContain("(you had written: one\ntwo )");
});

test.skipIf(!hasTmux)("T19: the prompt's text survives a kill at any key, until it is sent", async () => {
  using place = home();
  await using server = await modelServer({ text: "Hello to you." });
  const model = ["--model", "openai-compatible/test"];
  const written = (screen: string) => /^key[a-z]*/m.exec(screen)?.[0] ?? "";
  const inPrompt = (text: string) => new RegExp(`^─ Reply to banyan: ─+\n${text}`);
  let before = "";
  for (const more of ["keyabcde", "fghijklmn", "opqrstuvwxyz"]) {
    using pty = Pty.open(place, model, server.env);
    before = written(await pty.until(inPrompt(before)));
    pty.type(more);
    await pty.until(`${before}${more.slice(0, 2 + Math.random() * (more.length - 2))}`);
    pty.kill("SIGKILL");
    const shown = written(await pty.until("[exit 137]"));
    expect(shown.startsWith(before) && (before + more).startsWith(shown)).toBe(true);
    before = shown;
  }
  {
    using pty = Pty.open(place, model, server.env);
    before = written(await pty.until(inPrompt(before)));
    pty.enter(", and that was all");
    await pty.until("Hello to you.");
    expect(JSON.stringify(server.asked.at(-1)?.at(-1))).toContain(`${before}, and that was all`);
    pty.kill("SIGKILL");
    await pty.until("[exit 137]");
  }
  using pty = Pty.open(place, ["--continue", ...model], server.env);
  await pty.prompted();
});
