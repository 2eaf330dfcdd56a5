import { existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Home, home } from "../testing/banyan.ts";
import { lasting } from "../testing/lasting.ts";
import { modelServer, shell, write } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";
import { connected, serving, TOKEN, until } from "../testing/serving.ts";

const say = (text: string) => [{ type: "text", text }] as const;

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

// Actions of a user in a terminal attached to a server. The command runs in tmux.
describe.skipIf(!hasTmux)("T42: /model at a server", () => {
  test("B75: lists the server's models with their prices; a chosen model is for this conversation, begun or not, and the prompt follows the user's settings", async () => {
    const config = join(place.env.BANYAN_HOME ?? "", "config");
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, "settings.json"), '{"prompt":"Tell {agent}>"}');
    await using model = await modelServer({ text: "Never." });
    const [, address] = await serving(place, { ...model.env, ANTHROPIC_API_KEY: "any" });
    const remote = await connected(address);
    using pty = Pty.open(place, ["attach", "--new", "--plain"]);
    await pty.prompted("Tell banyan>");
    pty.enter("/model nobody/nothing");
    await pty.until("Not done: There is no provider");
    pty.enter("/model");
    const list = await pty.until("Type a number or words to search for, or press Enter to go back:");
    expect(list).toMatch(/^ {2}1 {2}openai-compatible\/test +price unknown +\(now\)$/m);
    expect(list).toMatch(/^ +\d+ {2}anthropic\/claude-sonnet-5 +\$[\d.]+ in +\$[\d.]+ out +[\d.]+[kM]$/m);
    pty.enter("offline");
    await pty.until("  1  demo/offline");
    pty.enter("1");
    await pty.until("Using demo/offline from the next message on, in this conversation.");
    pty.enter("list the files");
    await pty.until("This folder is empty.");
    expect(model.asked).toHaveLength(0);
    expect(remote.welcome.settings.model).toBe("openai-compatible/test");
    const { conversation } = await remote.ask("conversation.open", {});
    const watched = await remote.watch(conversation).loaded;
    expect(watched.state.model).toBe("demo/offline");
  });

  test("while the agent works, it takes its next step; the status and every other client see it", async () => {
    await using model = await modelServer(shell("until [ -e go ]; do sleep 0.1; done"));
    const [, address] = await serving(place, model.env, "--approval", "all");
    const remote = await connected(address);
    using pty = Pty.open(place, ["attach", "--new"], model.env);
    await pty.prompted();
    pty.enter("list the files");
    await pty.until("Running until");
    const watched = await remote.watch((await remote.ask("conversation.open", {})).conversation).loaded;
    pty.enter("/model");
    await pty.until(/^❯ openai-compatible\/test +price unknown/);
    pty.type("offline");
    await pty.until(/^❯ demo\/offline/);
    pty.press("Enter");
    await pty.until("Using demo/offline from the next step on");
    await until(watched, () => watched.state.model === "demo/offline");
    writeFileSync(join(place.workspace, "go"), "");
    await pty.until("ended with exit code 0");
    expect(await pty.prompted()).toContain("never asks · demo/offline");
    expect(model.asked).toHaveLength(1);
  });
});

describe.skipIf(!hasTmux)("T17: a command of the person's own at a server", () => {
  test("runs on their machine, where the agent works if that is here; the agent gets what ! prints", async () => {
    await using model = await modelServer({ text: "I see." }, shell("until [ -e go ]; do sleep 0.1; done"), {
      text: "Heard.",
    });
    const [, address] = await serving(place, model.env, "--approval", "all");
    using pty = Pty.open(place, ["attach", "--new"], { ...model.env, OWN_TOKEN: "of the person" });
    await pty.prompted();
    pty.enter("!pwd; echo @notes.md; exit 3");
    const workspace = realpathSync(place.workspace);
    await pty.until(`❯ !pwd; echo @notes.md; exit 3\n${workspace}\n@notes.md\nExit code 3`);
    await pty.until(/^Exit code 3(, [\d.]+ s)?\. The agent sees the output with your next message\.$/);
    pty.enter("!! echo $OWN_TOKEN");
    await pty.until(/^❯ !! echo \$OWN_TOKEN\nof the person\nDone(, .*)?\. The agent does not see the command\.$/);
    expect(model.asked).toHaveLength(0);
    pty.enter("what was it?");
    await pty.until("I see.");
    const asked = JSON.stringify(model.asked[0]);
    expect(asked).toContain(JSON.stringify(`<output name="pwd; echo @notes.md; exit 3">\n${workspace}\n`).slice(1, -1));
    expect(asked).not.toContain("of the person");
    // The command was shown when it ran, so its message is not shown again.
    expect((await pty.prompted()).match(/^❯ !pwd/gm)).toHaveLength(1);

    // A running agent gets the message. Ctrl-C ends the user's command, not the agent's work.
    pty.enter("go");
    await pty.until(/• shell .* …/);
    const lasts = lasting();
    pty.enter(`!echo three; ${lasts}`);
    await pty.until(/^three$/);
    pty.press("C-c");
    await pty.until(/^Stopped, .*\. The agent sees the output/);
    const remote = await connected(address);
    const watched = await remote.watch((await remote.ask("conversation.open", {})).conversation).loaded;
    await until(watched, () => watched.state.runs.size === 1);
    writeFileSync(join(place.workspace, "go"), "");
    await pty.until("Heard.");
    expect(JSON.stringify(model.asked[2])).toContain(`<output name=\\"echo three; ${lasts}\\">`);
  });

  test("never runs on a remote server's machine, and the agent learns the place", async () => {
    using elsewhere = home();
    await using model = await modelServer({ text: "I see." });
    const [, address] = await serving(place, model.env);
    using pty = Pty.open(elsewhere, ["attach", address, "--new", "--plain"], { BANYAN_TOKEN: TOKEN });
    const workspace = realpathSync(elsewhere.workspace);
    await pty.prompted();
    pty.enter("!touch here.txt; pwd");
    await pty.until(
      new RegExp(`^${RegExp.escape(workspace)}\nDone(, .*)?, here in ${RegExp.escape(workspace)}\\. The agent sees`),
    );
    expect([elsewhere, place].map((one) => existsSync(join(one.workspace, "here.txt")))).toEqual([true, false]);
    await pty.prompted();
    pty.enter("what was it?");
    await pty.until("I see.");
    expect(JSON.stringify(model.asked[0])).toContain(`(on the user's own machine, in ${workspace})`);
  });
});

test.skipIf(!hasTmux)(
  "T29: a user who leaves a branch at a server keeps or restores its files there, and all clients see this",
  async () => {
    await using model = await modelServer(write("oak.txt", "tall\n"), { text: "Planted." }, { text: "Nothing more." });
    const [, address] = await serving(place, model.env, "--approval", "edits");
    const remote = await connected(address);
    const made = () => existsSync(join(place.workspace, "oak.txt"));
    using pty = Pty.open(place, ["attach", "--new"], model.env);
    await pty.prompted();
    await pty.exchange("plant an oak", "Planted.");
    const watched = await remote.watch((await remote.ask("conversation.open", {})).conversation).loaded;
    const kinds: string[] = [];
    watched.follow({ item: (item) => void (item.type === "file.changed" && kinds.push(item.kind)) });

    pty.enter("/edit #1");
    expect(await pty.asked("What should happen to these files?")).toMatch(
      /The branch that you leave has 1 changed file ─+\n +created +\+1 +-0 +oak\.txt/,
    );
    pty.press("d", "Enter");
    await pty.until(/^\+ ?tall$|^ *1 \+ tall$/, 2);
    await pty.asked("What should happen to these files?");
    pty.press("Escape");
    await pty.prompted();
    expect(made()).toBe(true);

    pty.enter("/edit #1");
    await pty.asked("What should happen to these files?");
    pty.press("r", "Enter");
    const screen = await pty.until(/^─ Reply to banyan: ─+\nplant an oak$/);
    expect(screen).toMatch(/^Restored: .*oak\.txt/m);
    expect(screen.match(/deleted/g)).toHaveLength(1);
    expect(made()).toBe(false);
    await expect.poll(() => kinds).toEqual(["deleted"]);
    pty.enter(" or nothing");
    await pty.until("Nothing more.");
    expect(JSON.stringify(model.asked.at(-1))).toContain("plant an oak or nothing");
  },
);

describe.skipIf(!hasTmux)("T41: attach --resume", () => {
  test("lets a person choose among the server's conversations, by any words that were said, with a preview", async () => {
    await using model = await modelServer({ text: "Blood is." }, { text: "The sea is, far out." }, { text: "Salt." });
    const [, address] = await serving(place, model.env);
    const remote = await connected(address);
    for (const asked of ["What is red?", "What is blue?"]) {
      const { conversation } = await remote.ask("conversation.create", {});
      const watched = await remote.watch(conversation).loaded;
      await remote.ask("turn.say", { conversation, parts: say(asked) });
      await until(watched, () => watched.state.messages.size === 2 && watched.state.runs.size === 0);
    }
    using pty = Pty.open(place, ["attach", "--resume"], model.env);
    await pty.until("2 entries");
    await pty.until("❯ What is blue?");
    // No title contains this word.
    pty.type("blood");
    await pty.until("❯ What is red?");
    await pty.until("Blood is.");
    await pty.until("1 of 2");
    pty.press("Enter");
    expect(await pty.prompted()).toContain("“What is red?”, 2 messages on this branch");
    pty.enter("of what?");
    await pty.until("Salt.");
    expect(JSON.stringify(model.asked[2])).toContain("Blood is.");

    using plain = Pty.open(place, ["attach", "--plain", "--resume", "what is"], model.env);
    const list = await plain.until("Type a number or words to search for, or press Enter to go back:");
    expect(list).toMatch(/^Conversations\n {2}1 {2}What is red\? .*\n {2}2 {2}What is blue\? /m);
    await plain.exchange("", "You chose no conversation. Starting a new conversation.");
  });
});

test.skipIf(!hasTmux)("T19: unsent text of a terminal at a server survives kill -9, until it is sent", async () => {
  await using model = await modelServer({ text: "Hello to you." }, { text: "Yes." });
  await serving(place, model.env);
  const opened = async (how: string, draft: string) => {
    const pty = Pty.open(place, ["attach", how], model.env);
    await pty.until(new RegExp(`^─ Reply to banyan: ─+\n${RegExp.escape(draft)} *\n`));
    return pty;
  };
  {
    using pty = await opened("--new", "");
    pty.type("hello, half");
    await pty.until("hello, half");
    pty.kill("SIGKILL");
    await pty.until("[exit 137]");
  }
  {
    using pty = await opened("--new", "hello, half");
    await pty.exchange(" and whole", "Hello to you.");
    pty.type("a second thought");
    await pty.until("a second thought");
    pty.kill("SIGKILL");
    await pty.until("[exit 137]");
  }
  using other = await opened("--new", "");
  using pty = await opened("--resume=hello, half and whole", "a second thought");
  pty.press("Enter");
  await pty.until("Yes.");
  expect(JSON.stringify(model.asked[1])).toContain("a second thought");
  pty.kill("SIGKILL");
  await pty.until("[exit 137]");
  using again = await opened("--resume=hello, half and whole", "");
  await again.prompted();
  await other.prompted();
});

test.skipIf(!hasTmux)("T29: /changes lists the changed files of a server; an unavailable command says so", async () => {
  await using model = await modelServer(write("oak.txt", "tall\n"), write("fig.txt", "sweet\n"), {
    text: "Planted.",
  });
  await serving(place, model.env, "--approval", "edits");
  using pty = Pty.open(place, ["attach", "--new"], model.env);
  await pty.prompted();
  await pty.exchange("plant an oak and a fig", "Planted.");
  const list =
    /^2 files changed since this conversation began:\n[\s\S]*^ +created +\+1 +-0 +oak\.txt +banyan \(write\)\n[\s\S]*\/undo takes back/;
  await pty.exchange("/changes", list);
  pty.enter("/changes oak.txt");
  await pty.until(/^\+ ?tall$|^ *1 \+ tall$/, 2);
  await pty.prompted();
  pty.enter("/mcp");
  await pty.until("/mcp works only in a terminal on the agent's machine.");
});
