import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";
import { modelServer } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

const MODEL = ["--model", "openai-compatible/test"];
const PLAIN = ["--plain", ...MODEL];

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

describe.skipIf(!hasTmux)("the commands", () => {
  test("/retry, /tree, /branch and /usage: asking again is a branch, and nothing is lost", async () => {
    await using server = await modelServer(
      { text: "Red." },
      { text: "Blue." },
      { text: "Green." },
      { text: "Because." },
    );
    using pty = Pty.open(place, PLAIN, server.env);
    await pty.prompted();
    await pty.exchange("a colour?", "Red.");
    await pty.exchange("/retry", "Blue.");
    await pty.exchange("/retry a colour of leaves?", "Green.");
    pty.enter("/tree");
    const tree = await pty.until("← here");
    expect(tree).toContain(
      [
        "├ #1   you     a colour?",
        "  ├ #2   banyan  Red.  (branch 1)",
        "  ├ #3   banyan  Blue.  (branch 2)",
        "├ #4   you     a colour of leaves?",
        "│ #5   banyan  Green.  (branch 3)  ← here",
      ].join("\n"),
    );
    await pty.prompted();
    pty.enter("/branch 1");
    await pty.until("Your next message continues from here.");
    pty.enter("why?");
    await pty.until("Because.");
    expect(
      server.asked
        .at(-1)
        ?.filter(({ role }) => role !== "system")
        .map(({ content }) => content),
    ).toEqual(["a colour?", "Red.", "why?"]);
    await pty.prompted();
    pty.enter("/usage");
    const usage = await pty.until(/^whole tree/);
    expect(usage).toMatch(/^branch 1 \* +20 +0 +10 +0 +unknown$/m);
    expect(usage).toMatch(/^whole tree +40 +0 +20 +0 +unknown$/m);
    await pty.prompted();
    pty.enter("/branch");
    expect(await pty.until("/branch n switches to branch n.")).toMatch(/^\* {2}1 {2}why\?$/m);
  });

  test("/branch with an own message brings it back to be changed", async () => {
    await using server = await modelServer({ text: "Red." }, { text: "Green." });
    using pty = Pty.open(place, MODEL, server.env);
    await pty.prompted();
    await pty.exchange("a colour?", "Red.");
    pty.enter("/branch #1");
    await pty.until(/^─ Reply to banyan: ─+\na colour\?$/);
    pty.enter(" Of leaves.");
    await pty.until("Green.");
    expect(
      server.asked
        .at(-1)
        ?.filter(({ role }) => role === "user")
        .map(({ content }) => content),
    ).toEqual(["a colour? Of leaves."]);
  });

  test("/clear begins a new conversation and says how to find the old one", async () => {
    await using server = await modelServer({ text: "Red." }, { text: "Hello." });
    using pty = Pty.open(place, PLAIN, server.env);
    await pty.prompted();
    await pty.exchange("a colour?", "Red.");
    pty.enter("/clear");
    await pty.until(/To return to the previous conversation: banyan --resume [0-9a-z]{26}/);
    // The prompt appears only once.
    expect((await pty.prompted()).match(/Reply to banyan:/g)).toHaveLength(3);
    pty.enter("hello");
    await pty.until("Hello.");
    expect(JSON.stringify(server.asked.at(-1))).not.toContain("a colour?");
  });

  test("T42: /model lists models by number and takes another one, now and later", async () => {
    await using server = await modelServer({ text: "Hello." });
    writeFileSync(join(place.workspace, "a.txt"), "");
    using pty = Pty.open(place, PLAIN, server.env);
    await pty.prompted();
    pty.enter("/model nobody/nothing");
    await pty.until("Not done: There is no provider");
    pty.enter("/model");
    const list = await pty.until("Type a number or words to search for, or press Enter to go back:");
    expect(list).toMatch(/^ {2}1 {2}openai-compatible\/test +price unknown +\(now\)$/m);
    expect(list).toMatch(/demo\/offline +\$0 in +\$0 out/);
    const [, number = ""] = /^ +(\d+) {2}demo\/offline/m.exec(list) ?? [];
    pty.enter(number);
    await pty.until("Using demo/offline from the next message on");
    pty.enter("list the files");
    await pty.until("This folder has 1 entry");
    expect(server.asked).toHaveLength(0);
    const settings = readFileSync(join(place.env.BANYAN_HOME ?? "", "config", "settings.json"), "utf8");
    expect(JSON.parse(settings)).toEqual({ model: "demo/offline" });
  });

  test("T42: /model with part of a name takes the matching model, and asks if several match", async () => {
    await using server = await modelServer({ text: "Hello." });
    using pty = Pty.open(place, PLAIN, server.env);
    await pty.prompted();
    await pty.exchange("/model OFFL", "Using demo/offline from the next message on");
    await pty.exchange("/model heron", 'Not done: "heron" is not the name of a model');
    pty.enter("/model e");
    expect(await pty.until("Type a number or words to search for, or press Enter to go back:")).toMatch(
      /^ {2}2 {2}openai-compat/m,
    );
    pty.enter("2");
    await pty.until("Using openai-compatible/test from the next message on");
    await pty.exchange("hello", "Hello.");
  });

  test("T42: the list has the user's own names; a name for a model without a key says so, and its choice names the remedy", async () => {
    const config = join(place.env.BANYAN_HOME ?? "", "config");
    mkdirSync(config, { recursive: true });
    const aliases = { calm: "demo/offline", keen: "anthropic/claude-sonnet-5", odd: "nobody/nothing" };
    writeFileSync(join(config, "settings.json"), JSON.stringify({ aliases }));
    await using server = await modelServer({ text: "Hello." });
    using pty = Pty.open(place, MODEL, server.env);
    await pty.prompted();
    pty.enter("/model");
    const list = await pty.until("Enter chooses");
    expect(list).toMatch(/^ {2}calm +for demo\/offline$/m);
    expect(list).toMatch(/^ {2}keen +cannot be used: anthropic needs a key\. Set ANTHROPIC_API_KEY to your key\.$/m);
    expect(list).toMatch(/^ {2}odd +cannot be used: There is no such provider\.$/m);
    pty.type("keen");
    await pty.until(/^❯ keen/);
    pty.press("Enter");
    await pty.until(/Not done: anthropic needs a key\. Set ANTHROPIC_API_KEY to your key\./);
    await pty.exchange("/model calm", "Using calm from the next message on");
  });

  test("T42: a model picked while the agent works takes its next step, and the tree knows", async () => {
    await using server = await modelServer({
      calls: [{ tool: "shell", input: { command: "until [ -e go ]; do sleep 0.1; done" } }],
    });
    using pty = Pty.open(place, ["--model", "openai-compatible/test:high", "--approval", "all"], server.env);
    await pty.prompted();
    pty.enter("list the files");
    await pty.until("Running until");
    pty.enter("/model");
    await pty.until(/^❯ openai-compatible\/test:high +price unknown/);
    pty.type("offline");
    await pty.until(/^❯ demo\/offline/);
    pty.press("Enter");
    await pty.until("Using demo/offline from the next step on");
    writeFileSync(join(place.workspace, "go"), "");
    await pty.until("ended with exit code 0");
    expect(await pty.prompted()).toContain("never asks · demo/offline");
    pty.press("C-d");
    const [, id = ""] = /resume: banyan --resume (\w+)/.exec(await pty.until("[exit 0]")) ?? [];
    const { stdout } = await banyan(place, ["conversations", "export", id]);
    const events: { type: string; model?: string }[] = JSON.parse(stdout).events;
    expect(
      events.filter(({ type }) => /^message.started|^model/.test(type)).map(({ type, model }) => [type, model]),
    ).toEqual([
      ["message.started", "openai-compatible/test:high"],
      ["model.changed", "demo/offline"],
      ["message.started", "demo/offline"],
    ]);
    expect(server.asked).toHaveLength(1);
  });

  test("T28: /tree #n goes on from a message, and /edit says one's own in other words; both are branches", async () => {
    await using server = await modelServer(
      { text: "Red." },
      { text: "Round." },
      { text: "Because." },
      { text: "Green." },
    );
    using pty = Pty.open(place, MODEL, server.env);
    await pty.prompted();
    await pty.exchange("a colour?", "Red.");
    await pty.exchange("a shape?", "Round.");
    pty.enter("/tree #2");
    await pty.until("Your next message continues from here.");
    pty.enter("why?");
    await pty.until("Because.");
    const said = () => server.asked.at(-1)?.flatMap(({ role, content }) => (role === "system" ? [] : [content]));
    expect(said()).toEqual(["a colour?", "Red.", "why?"]);
    await pty.prompted();
    await pty.exchange("/edit #2 no", "#2 is not your message.");
    pty.enter("/edit #1 a colour of leaves?");
    await pty.until("Green.");
    expect(said()).toEqual(["a colour of leaves?"]);
    await pty.prompted();
    pty.enter("/tree");
    expect(await pty.until("← here")).toMatch(/│ #8 +banyan +Green\. +\(branch 3\) +← here *$/m);
  });

  test("T7, T28: Esc twice opens the tree at the user's last message; a chosen message is rephrased as a sibling", async () => {
    await using server = await modelServer({ text: "Red." }, { text: "Round." }, { text: "Green." });
    using pty = Pty.open(place, MODEL, server.env);
    await pty.prompted();
    await pty.exchange("a colour?", "Red.");
    await pty.exchange("a shape?", "Round.");
    pty.press("Escape", "Escape");
    expect(await pty.until("Enter goes there")).toMatch(/^❯ #3 +you +a shape\? *$/m);
    pty.press("Up", "Up", "Enter");
    await pty.until(/^─ Reply to banyan: ─+\na colour\?$/);
    pty.enter(" Of leaves.");
    await pty.until("Green.");
    const said = server.asked.at(-1)?.flatMap(({ role, content }) => (role === "system" ? [] : [content]));
    expect(said).toEqual(["a colour? Of leaves."]);
    await pty.until("branch 2/2");
  });

  test("/label and /star mark a message; /remove hides a branch and says how much goes, /restore brings it back", async () => {
    await using server = await modelServer({ text: "Red." }, { text: "Round." }, { text: "Again." });
    using pty = Pty.open(place, PLAIN, server.env);
    await pty.prompted();
    await pty.exchange("a colour?", "Red.");
    await pty.exchange("a shape?", "Round.");
    pty.enter("/label #2 the red one");
    await pty.until("#2 is named “the red one” now.");
    pty.enter("/star #1");
    await pty.until("#1 has a star ★ now.");
    pty.enter("/remove #9");
    await pty.until("There is no message #9. /tree shows the numbers.");
    await pty.exchange("/remove #3", "Removed 2 messages. /restore #3 brings them back.");
    pty.enter("/tree");
    const tree = await pty.until("← here");
    expect(tree).toMatch(/^#1 +you +a colour\? +★$/m);
    expect(tree).toMatch(/^#2 +banyan +Red\. +\[the red one\] +← here *$/m);
    expect(tree).not.toMatch(/^#3/m);
    await pty.prompted();
    pty.enter("and now?");
    await pty.until("Again.");
    expect(JSON.stringify(server.asked.at(-1))).not.toContain("a shape?");
    await pty.prompted();
    await pty.exchange("/restore", "Restored 2 messages. /tree #3 continues from there.");
    pty.enter("/tree");
    expect(await pty.until("← here", 2)).toMatch(/^│ #4 +banyan +Round\. +\(branch 1\)$/m);
  });
});
