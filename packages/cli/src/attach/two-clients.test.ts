import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Home, home } from "../testing/banyan.ts";
import { modelServer, shell } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";
import { connected, serving, until } from "../testing/serving.ts";

const say = (text: string) => [{ type: "text", text }] as const;
const waits = shell("until [ -e go ]; do sleep 0.1; done");

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

describe.skipIf(!hasTmux)("T43: a person in a terminal, and another client", () => {
  test("after a user's own command, the next message follows the other client's message", async () => {
    await using model = await modelServer({ text: "One." }, { text: "Two." });
    const [, address] = await serving(place, model.env);
    const remote = await connected(address);
    using pty = Pty.open(place, ["attach", "--new"], model.env);
    await pty.prompted();
    pty.enter("!echo three");
    await pty.until(/^Done[,.] /);
    const { conversation } = await remote.ask("conversation.open", {});
    const watched = await remote.watch(conversation).loaded;
    await remote.ask("turn.say", { conversation, parts: say("hello") });
    await pty.until("One.");
    await until(watched, () => watched.state.runs.size === 0);
    await pty.prompted();
    pty.enter("and you?");
    await pty.until("Two.");
    expect(JSON.stringify(model.asked[1])).toMatch(/three.*hello.*One\..*and you\?/);
  });

  test.each(["while the agent works", "at the prompt"])(
    "a conversation that somebody removes is left with a sentence, %s",
    async (when) => {
      await using model = await modelServer({ text: "One." }, waits);
      const [, address] = await serving(place, model.env, "--approval", "all");
      const remote = await connected(address);
      using pty = Pty.open(place, ["attach", "--new"], model.env);
      await pty.prompted();
      await pty.exchange("hello", "One.");
      if (when === "while the agent works") {
        pty.enter("work");
        await pty.until(/• shell .* …/);
      }
      const { conversation } = await remote.ask("conversation.open", {});
      await remote.ask("conversation.remove", { conversation });
      await pty.until("This conversation was removed.");
      expect(await pty.until("[exit 0]")).not.toContain("--resume");
    },
  );

  test("while the agent works, what leads elsewhere waits until it has answered; /exit does not", async () => {
    await using model = await modelServer(waits, { text: "Well." }, { text: "Again." }, waits);
    const [, address] = await serving(place, model.env, "--approval", "all");
    const remote = await connected(address);
    using pty = Pty.open(place, ["attach", "--new"], model.env);
    await pty.prompted();
    pty.enter("work");
    await pty.until(/• shell .* …/);
    const watched = await remote.watch((await remote.ask("conversation.open", {})).conversation).loaded;
    pty.enter("/retry");
    await pty.until(/^next: \/retry/);
    await sleep(300);
    expect([watched.state.runs.size, model.asked.length]).toEqual([1, 1]);
    writeFileSync(join(place.workspace, "go"), "");
    await pty.until("Well.");
    // The file came during the command.
    await pty.asked("What should happen to these files?");
    pty.press("k", "Enter");
    await pty.until("Again.");
    expect(watched.state.children.get(null)).toHaveLength(1);
    await pty.prompted();
    rmSync(join(place.workspace, "go"));
    pty.enter("work");
    await pty.until("… running");
    pty.enter("/exit");
    await pty.until("attach: banyan attach --resume");
    expect(await remote.ask("run.interrupt", { conversation: watched.id })).toEqual({ interrupted: 1 });
  });

  test("S28: a guest gets no questions and no commands that act, and one message after an attempt", async () => {
    await using model = await modelServer(shell("touch made.txt"), {
      text: "Well.",
    });
    const [, address] = await serving(place, model.env, "--guest-token", "a-token-for-guests");
    const remote = await connected(address);
    const { conversation } = await remote.ask("conversation.create", {});
    const watched = await remote.watch(conversation).loaded;
    await remote.ask("turn.say", { conversation, parts: say("go") });
    await until(watched, () => watched.state.questions.size === 1);
    using pty = Pty.open(place, ["attach", address, "--resume", conversation], { BANYAN_TOKEN: "a-token-for-guests" });
    await pty.until("With this token you can only watch.");
    await pty.until("The agent is working");
    await sleep(300);
    expect(pty.screen()).not.toContain("Allow this?");
    for (const [index, line] of ["let me", "!touch mine.txt", "/retry"].entries()) {
      pty.enter(line);
      const screen = await pty.until("View only: with this token", index + 1);
      expect(screen).not.toMatch(/Not done|forbidden|Reply to/);
    }
    expect(existsSync(join(place.workspace, "mine.txt"))).toBe(false);
    const [question = ""] = watched.state.questions.keys();
    await remote.ask("question.answer", { conversation, question, answer: { decision: "allow" } });
    await pty.until("Well.");
    expect(existsSync(join(place.workspace, "made.txt"))).toBe(true);
    pty.enter("/help");
    const help = await pty.until("? on an empty line shows all keys.");
    expect(help).toMatch(/^ *\/usage/m);
    expect(help).not.toMatch(/^ *\/(model|approval|retry|edit|undo|remove|compact|title|waiting)/m);
    expect(help).toMatch(/^ *\/memory +List the memory entries/m);
    expect(help).not.toContain("drop");
    pty.enter("/status");
    await pty.until(/^ {2}conversation .*\n(.*\n)* {2}file +at the server/);
    pty.enter("/export it.json");
    await pty.until(/^Written: \/.*it\.json$/);
  });
});
