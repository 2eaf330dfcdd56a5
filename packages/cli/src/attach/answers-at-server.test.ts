import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Home, home } from "../testing/banyan.ts";
import { killedWhileDenying } from "../testing/killed-while-denying.ts";
import { modelServer, shell } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";
import { connected, serving, until } from "../testing/serving.ts";

const say = (text: string) => [{ type: "text", text }] as const;

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

// Questions of the agent in a terminal attached to a server. The command runs in tmux.
test.skipIf(!hasTmux)(
  "T39: in plain lines, what the agent asks waits until what a command asks is answered",
  async () => {
    await using model = await modelServer(shell("true"), { text: "Well." });
    const [, address] = await serving(place, model.env);
    const remote = await connected(address);
    const { conversation } = await remote.ask("conversation.create", {});
    const watched = await remote.watch(conversation).loaded;
    await remote.ask("message.add", { conversation, parts: say("hello") });
    using pty = Pty.open(place, ["attach", "--plain", "--resume", conversation], model.env);
    await pty.prompted();
    pty.enter("/model");
    await pty.until("Type a number or words to search for, or press Enter to go back:");
    await remote.ask("turn.say", { conversation, parts: say("go") });
    await until(watched, () => watched.state.questions.size === 1);
    await sleep(300);
    expect(pty.screen()).not.toContain("asks to run");
    pty.enter("");
    await pty.until("banyan asks to run shell");
    await pty.until(/^Allow this\?\s*(?![\s\S])/);
    pty.enter("1");
    await pty.until("Well.");
  },
);

test.skipIf(!hasTmux)(
  "T39: in plain lines, a new question appears without a prompt in its way while the user answers another",
  async () => {
    await using model = await modelServer(shell("touch one.txt"), shell("touch other.txt"), { text: "Well." });
    const [, address] = await serving(place, model.env);
    const remote = await connected(address);
    const { conversation } = await remote.ask("conversation.create", {});
    const watched = await remote.watch(conversation).loaded;
    const { message: at } = await remote.ask("message.add", { conversation, parts: say("hello") });
    using pty = Pty.open(place, ["attach", "--plain", "--resume", conversation], model.env);
    await pty.prompted();
    await remote.ask("turn.say", { conversation, at, parts: say("go") });
    await pty.until(/touch one\.txt[\s\S]*^Allow this\?\s*(?![\s\S])/);
    await remote.ask("turn.say", { conversation, at, parts: say("go there too") });
    await until(watched, () => watched.state.questions.size === 2);
    pty.enter("1");
    await pty.until(/touch other\.txt[\s\S]*^Allow this\?/);
    pty.enter("1");
    await until(watched, () => watched.state.runs.size === 0);
    await pty.prompted();
    await pty.exchange("and now?", "Well.");
    expect(["one.txt", "other.txt"].map((name) => existsSync(join(place.workspace, name)))).toEqual([true, true]);
  },
);

test.skipIf(!hasTmux)(
  "T19: the draft of an answer to a server's question survives kill -9 while the question waits",
  async () => {
    await using model = await modelServer(shell("touch made.txt"), { text: "Well." });
    await serving(place, model.env);
    {
      using pty = Pty.open(place, ["attach", "--new"], model.env);
      await killedWhileDenying(pty, "not now");
    }
    using pty = Pty.open(place, ["attach"], model.env);
    await pty.until("No, and say why: not now");
    expect(model.asked).toHaveLength(1);
    await pty.asked();
    pty.press("n", "Enter");
    await pty.until("Reason (optional): not now");
    pty.enter(", later");
    await pty.until("Well.");
    expect(JSON.stringify(model.asked[1]?.at(-1))).toContain("not now, later");
    expect(existsSync(join(place.workspace, "made.txt"))).toBe(false);
  },
);

test.skipIf(!hasTmux)(
  "T19: the draft of an answer moves to the history when another client answers the server's question",
  async () => {
    await using model = await modelServer(shell("touch made.txt"), { text: "Well." });
    const [, address] = await serving(place, model.env);
    {
      using pty = Pty.open(place, ["attach", "--new"], model.env);
      await killedWhileDenying(pty, "not now");
    }
    const remote = await connected(address);
    const { conversation } = await remote.ask("conversation.open", {});
    const watched = await remote.watch(conversation).loaded;
    const [question = ""] = watched.state.questions.keys();
    await remote.ask("question.answer", { conversation, question, answer: { decision: "allow" } });
    await until(watched, () => watched.state.runs.size === 0);
    using pty = Pty.open(place, ["attach"], model.env);
    await pty.until("Your answer was not sent. It is in the input history: not now");
    await pty.prompted();
    pty.press("Up");
    await pty.until(/─ Reply to banyan: ─+\nnot now$/);
  },
);
