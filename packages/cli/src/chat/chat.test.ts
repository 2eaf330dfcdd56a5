import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";
import { hasEnded, lasting } from "../testing/lasting.ts";
import { modelServer, shell } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

const MODEL = ["--model", "openai-compatible/test"];

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

function lastSaid(asked: readonly (readonly { role: string; content: unknown }[])[]): unknown {
  return asked.at(-1)?.findLast(({ role }) => role === "user")?.content;
}

// These tests run the command in tmux.
describe.skipIf(!hasTmux)("a chat", () => {
  test("B12, T12, T31, T41, T48: goes turn by turn, and goes on later with --continue; Shift+Tab says what runs without asking", async () => {
    await using server = await modelServer(
      { text: "Hello to you." },
      { text: "Still here." },
      { text: "Welcome back." },
    );
    {
      using pty = Pty.open(place, MODEL, server.env);
      const start = await pty.prompted();
      expect(start).toContain(`banyan 0.1.0 in ${place.workspace}`);
      expect(start).toContain("Model: openai-compatible/test (from the command line)");
      expect(server.asked).toHaveLength(0);
      await pty.exchange("hello", "Hello to you.");
      await pty.exchange("are you there?", "chat · asks first · openai-compatible/test · 30 tokens · cost unknown");
      pty.press("C-d");
      expect(await pty.until("[exit 0]")).toMatch(/^resume: banyan --resume [0-9a-z]{26}$/m);
    }
    using pty = Pty.open(place, ["--continue", ...MODEL], server.env);
    const start = await pty.prompted();
    expect(start).toContain(
      "“hello”, 4 messages on this branch\n\n❯ hello\n\nHello to you.\n\n❯ are you there?\n\nStill here.",
    );
    pty.enter("back again");
    await pty.until("Welcome back.");
    expect(JSON.stringify(server.asked.at(-1))).toContain("Hello to you.");
    pty.press("BTab");
    await pty.until("Approval: the agent edits files here without asking, and asks before commands.");
    await pty.until("chat · edits freely ·");
    // The third mode needs a typed word (S27).
    pty.press("BTab");
    await pty.until("Type yes to run everything without asking:");
    await pty.answers("no");
    await pty.until("Approval: the agent reads freely, and asks before edits and commands.");
    await pty.until("chat · asks first ·");
  });

  test("continues the last conversation of a user, despite a later conversation without a user", async () => {
    await using server = await modelServer({ text: "Green it is." }, { text: "Red." }, { text: "Still green." });
    {
      using pty = Pty.open(place, MODEL, server.env);
      await pty.prompted();
      await pty.exchange("my colour is green", "Green it is.");
      pty.press("C-d");
      await pty.until("[exit 0]");
    }
    const { stdout } = await banyan(place, ["-p", "say a colour", "-o", "json", ...MODEL], server);
    using pty = Pty.open(place, ["--continue", ...MODEL], server.env);
    const start = await pty.prompted();
    expect(start).toContain("Green it is.");
    const advice = `A program started a newer conversation in this directory, “say a colour”. --resume ${JSON.parse(stdout).conversation} continues`;
    expect(start.replaceAll(/\s+/g, " ")).toContain(advice);
    await pty.exchange("which one?", "Still green.");
    await pty.enter("/resume");
    await pty.until(/say a colour.*unattended/);
  });

  test("B55: with --at goes on at the end of the branch of a message, not where it was written to last", async () => {
    await using server = await modelServer({ text: "Red." }, { text: "Blue." }, { text: "Because." });
    {
      using pty = Pty.open(place, MODEL, server.env);
      await pty.prompted();
      await pty.exchange("a colour?", "Red.");
      await pty.exchange("/retry", "Blue.");
      pty.press("C-d");
      await pty.until("[exit 0]");
    }
    using pty = Pty.open(place, ["--continue", "--at", "#2", ...MODEL], server.env);
    expect(await pty.prompted()).toContain("❯ a colour?\n\nRed.");
    pty.enter("why?");
    await pty.until("Because.");
    expect(
      server.asked
        .at(-1)
        ?.map(({ content }) => content)
        .slice(1),
    ).toEqual(["a colour?", "Red.", "why?"]);
  });

  test("B65: is labelled when it is with the offline demo", async () => {
    using pty = Pty.open(place, []);
    expect(await pty.prompted()).toContain(
      "Using demo/offline, a demo without a language model, because no key is set. For a real model, set",
    );
  });

  test("B3, T16: a blank line and a slash command ask the model nothing; an unknown one suggests the nearest", async () => {
    await using server = await modelServer({ text: "Hello." });
    using pty = Pty.open(place, MODEL, server.env);
    await pty.prompted();
    // All keys arrive at once, faster than the program reads.
    pty.press("Enter", "/treee", "Enter");
    expect(await pty.until("There is no command /treee.")).toContain("Did you mean /tree");
    pty.enter("/there-is-nothing-of-this-name");
    await pty.until(/^There is no command .* To send this as text, start with a space\.$/);
    await pty.exchange("/help", "/usage");
    await pty.exchange("/usage", /^whole tree/);
    pty.enter("/exit");
    expect(await pty.until("[exit 0]")).not.toContain("resume:");
    expect(server.asked).toHaveLength(0);
  });

  test("T4: Ctrl-C clears what is typed into the history", async () => {
    await using server = await modelServer({ text: "Hello." });
    using pty = Pty.open(place, MODEL, server.env);
    await pty.prompted();
    pty.type("half a thought");
    await pty.until("half a thought");
    pty.press("C-c");
    await pty.prompted();
    pty.press("Up");
    await pty.until("half a thought");
    pty.press("Enter");
    await pty.until("Hello.");
    expect(lastSaid(server.asked)).toBe("half a thought");
  });

  test("T5: Ctrl-C twice on an empty prompt exits; a key between disarms it", async () => {
    using pty = Pty.open(place, []);
    await pty.prompted();
    pty.press("C-c", "x", "BSpace", "C-c", "y");
    await pty.until(/^─ Reply to banyan: ─+\ny$/);
    pty.press("BSpace", "C-c");
    await pty.written("Press Ctrl-C again to exit");
    // The second of these leaves, even if the last Ctrl-C no longer counts.
    pty.press("C-c", "C-c");
    await pty.until("[exit 0]");
  });

  test("T9: a line that ends with a backslash goes on in the next one", async () => {
    await using server = await modelServer({ text: "Hello." });
    using pty = Pty.open(place, MODEL, server.env);
    await pty.prompted();
    pty.enter("one \\");
    pty.enter("two");
    await pty.until("Hello.");
    expect(lastSaid(server.asked)).toBe("one \ntwo");
  });

  test.each([
    ["that the terminal marks", true],
    ["that it does not mark", false],
  ])("T9: a paste %s is one message", async (_name, marked) => {
    await using server = await modelServer({ text: "Hello." });
    using pty = Pty.open(place, MODEL, { ...server.env, ...(!marked && { TERM: "linux", TMUX: "" }) });
    await pty.prompted();
    pty.paste("first\nsecond\nthird", marked);
    await pty.until(/^first\nsecond\nthird$/);
    expect(server.asked).toHaveLength(0);
    pty.press("Enter");
    await pty.until("Hello.");
    expect(lastSaid(server.asked)).toBe("first\nsecond\nthird");
    expect(server.asked).toHaveLength(1);
  });

  test("T62: tabs, the first indent and control characters of a paste reach the model, also behind /, from the history and queued", async () => {
    const pasted = "    indented\n\turl = \u001b[31mx\u0007";
    const letGo = Promise.withResolvers<void>();
    await using server = await modelServer(
      { text: "One." },
      { text: ["", "Two."], held: letGo.promise },
      { text: "Three." },
    );
    using pty = Pty.open(place, MODEL, server.env);
    await pty.prompted();
    pty.paste(pasted);
    await pty.until("→url = ␛[31mx␇");
    pty.press("Enter");
    await pty.until("One.");
    expect(lastSaid(server.asked)).toBe(pasted);
    await pty.prompted();
    pty.press("Up", "Enter");
    await vi.waitFor(() => expect(server.asked).toHaveLength(2), { timeout: 30_000 });
    expect(lastSaid(server.asked)).toBe(pasted);
    pty.paste("\tlater");
    await pty.until("→later");
    pty.press("M-Enter");
    await pty.until(/^queued: .*later/);
    letGo.resolve();
    await pty.until("Three.");
    expect(lastSaid(server.asked)).toBe("\tlater");
    await pty.prompted();
    pty.enter(" /tree is words");
    await pty.until("Three.", 2);
    expect(lastSaid(server.asked)).toBe(" /tree is words");
  });

  test("T62: in plain lines and from $VISUAL, tabs and the first indent reach the model", async () => {
    await using server = await modelServer({ text: "One." }, { text: "Two." });
    using plain = Pty.open(place, ["--plain", ...MODEL], server.env);
    await plain.prompted();
    plain.paste("\tindented\n\t\ttwice\n", false);
    await plain.until("One.");
    expect(lastSaid(server.asked)).toBe("\tindented\n\t\ttwice");
    const editor = join(place.workspace, "editor.sh");
    writeFileSync(editor, '#!/bin/sh\nprintf "\\t\\tall: $(cat "$1")\\n\\tend\\n" > "$1"\n', { mode: 0o755 });
    using full = Pty.open(place, MODEL, { ...server.env, VISUAL: editor });
    await full.prompted();
    full.paste("\ta");
    await full.until("→a");
    full.press("C-g");
    await full.until("→end");
    full.press("Enter");
    await full.until("Two.");
    expect(lastSaid(server.asked)).toBe("\t\tall: \ta\n\tend");
  });

  test("S12: shows no control sequences of the model", async () => {
    await using server = await modelServer({ text: "plain \x1b]0;owned\x07\x1b[31mtext\x1b[2J" });
    using pty = Pty.open(place, ["--color", "never", ...MODEL], server.env);
    await pty.prompted();
    pty.enter("go");
    const written = await pty.written("plain text");
    for (const sequence of ["owned", "\x1b[31m", "\x1b[2J"]) expect(written).not.toContain(sequence);
  });

  test("T38: NO_COLOR takes the colours away", async () => {
    await using server = await modelServer({ text: "Hello." });
    using pty = Pty.open(place, MODEL, { ...server.env, NO_COLOR: "1" });
    await pty.prompted();
    pty.enter("hello");
    const sequences = (await pty.written("15 tokens")).split("\x1b[").slice(1);
    expect(sequences.filter((sequence) => /^[0-9;]*m/.test(sequence))).toEqual([]);
  });

  test("a failed model causes one line, and the chat continues", async () => {
    await using server = await modelServer({ status: 400 }, { text: "Now it works." });
    using pty = Pty.open(place, MODEL, server.env);
    await pty.prompted();
    await pty.exchange("hello", /^Failed: 127\.0\.0\.1/);
    pty.enter("/retry");
    await pty.until("Now it works.");
  });

  test("T31: SIGTERM interrupts, gives the terminal back and exits with 143", async () => {
    await using server = await modelServer({ text: "Once upon a time", stalls: true });
    using pty = Pty.open(place, MODEL, server.env);
    await pty.prompted();
    pty.enter("a story");
    await pty.until("Once upon a time");
    pty.kill("SIGTERM");
    expect(await pty.until("[exit 143]")).toContain("resume: banyan --resume");
    const written = await pty.written("[exit 143]");
    expect(written.lastIndexOf("\x1b[?2004l")).toBeGreaterThan(written.lastIndexOf("\x1b[?2004h"));
  });
});

describe.skipIf(!hasTmux)("Ctrl-C while the agent works", () => {
  test("T1: ends the running call and all that it started, and gives control back", async () => {
    const lasts = lasting();
    await using server = await modelServer(shell(`echo on; ${lasts} & ${lasts}`), { text: "Never said." });
    using pty = Pty.open(place, ["--allow", "shell", ...MODEL], server.env);
    await pty.prompted();
    pty.enter("wait");
    await pty.until(`• shell  echo on; ${lasts} & ${lasts} … running`);
    pty.press("C-c");
    await pty.until("Stopped. Your turn.");
    const screen = await pty.prompted();
    expect(screen).toMatch(/• shell {2}echo on; .* … cancelled, /);
    await hasEnded(lasts);
    expect(server.asked).toHaveLength(1);
  });

  test("T3: a second time kills what does not want to end", async () => {
    const lasts = lasting();
    const deaf = shell(`trap '' INT TERM; echo on; while :; do ${lasts}; done`);
    await using server = await modelServer(deaf, { text: "Never said." });
    using pty = Pty.open(place, ["--allow", "shell", ...MODEL], server.env);
    await pty.prompted();
    pty.enter("wait");
    await pty.until(/^ +on$/);
    pty.press("C-c", "C-c");
    await pty.until("Killing the commands that are still running.");
    await pty.until("Stopped. Your turn.");
    await hasEnded(lasts);
    expect(server.asked).toHaveLength(1);
  });

  test("T1, T26, B75: keeps the partial answer, in the conversation too, and what is known of the context", async () => {
    const config = join(place.env.BANYAN_HOME ?? "", "config");
    mkdirSync(config, { recursive: true });
    const models = { "openai-compatible/test": { contextSize: 200 } };
    writeFileSync(join(config, "settings.json"), JSON.stringify({ models, prompt: "Tell {agent}>" }));
    const prompt = "Tell banyan>";
    const story = { text: "Once upon a time", stalls: true };
    await using server = await modelServer({ text: "Hello.", tokens: [40, 10] }, story, { text: "Go on, then." });
    using pty = Pty.open(place, MODEL, server.env);
    await pty.prompted(prompt);
    pty.enter("hello");
    await pty.until("context 75 % left");
    await pty.prompted(prompt);
    pty.enter("a story");
    await pty.until("Once upon a time");
    pty.press("C-c");
    await pty.until(/^Once upon a time\n+Stopped. Your turn.$/);
    expect(await pty.prompted(prompt)).toContain("context 75 % left");
    pty.enter("go on");
    await pty.until("Go on, then.");
    expect(JSON.stringify(server.asked[2])).toContain("Once upon a time");
  });

  test("at a question denies nothing and runs nothing", async () => {
    await using server = await modelServer(shell("touch made.txt"), { text: "Never said." });
    using pty = Pty.open(place, MODEL, server.env);
    await pty.prompted();
    pty.enter("make it");
    await pty.until("Allow this?");
    pty.press("C-c");
    await pty.until("Stopped. Your turn.");
    await pty.prompted();
    expect(existsSync(join(place.workspace, "made.txt"))).toBe(false);
    expect(server.asked).toHaveLength(1);
  });
});
