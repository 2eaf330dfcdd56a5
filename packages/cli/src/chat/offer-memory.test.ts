import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";
import { modelServer } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

const MODEL = ["--model", "openai-compatible/test"];

let place: Home;
beforeEach(() => {
  place = home();
  rmSync(inHome("state", "memory-offered"));
});
afterEach(() => place[Symbol.dispose]());

function inHome(...path: readonly string[]): string {
  return join(place.env.BANYAN_HOME ?? "", ...path);
}

test.skipIf(!hasTmux)(
  "S26, T51, W50: memory is offered once, in a sentence, and off until a person agrees; then what it adds is shown, with a key, and dropped",
  async () => {
    await using server = await modelServer({ text: "Noted." });
    {
      using pty = Pty.open(place, MODEL, server.env);
      expect((await pty.prompted()).replace(/\s+/g, " ")).toContain(
        "Memory is off. /memory explains it, /memory agree turns it on.",
      );
      await pty.exchange("The deployment key is kept in the green cupboard.", "Noted.");
      pty.press("C-d");
      await pty.until("[exit 0]");
      expect(existsSync(inHome("data", "memory.sqlite"))).toBe(false);
    }
    {
      using pty = Pty.open(place, MODEL, server.env);
      expect(await pty.prompted()).not.toContain("Memory is off");
      const explained = await pty.exchange("/memory", "/memory agree turns it on.");
      expect(explained.replace(/\s+/g, " ")).toMatch(
        /Memory is off\. When it is on, your messages and the agent's answers are kept in \S+memory\.sqlite, and matching parts are sent to the model of later conversations \(now openai-compatible\)\. \/memory agree turns it on\./,
      );
      await pty.exchange("/memory agree", "Memory is on from your next message.");
      await pty.exchange("The deployment key is kept in the green cupboard.", "Noted.");
      pty.press("C-d");
      await pty.until("[exit 0]");
      expect(JSON.parse(readFileSync(inHome("config", "settings.json"), "utf8"))).toEqual({
        memory: { enabled: true },
      });
    }
    using pty = Pty.open(place, MODEL, server.env);
    await pty.prompted();
    await pty.exchange("Where is the deployment key kept?", /Memory added \d+ entr\w+ to the prompt \(Ctrl-O/);
    expect(JSON.stringify(server.asked.at(-1))).toContain("green cupboard");
    pty.press("C-o");
    await pty.until(/What memory added(?:.|\n)*green cupboard/);
    pty.press("Escape");
    await pty.prompted();
    const [, number] = /^(\d)\. .*green cupboard/m.exec(await pty.exchange("/memory", "green cupboard")) ?? [];
    await pty.exchange(`/memory drop ${number}`, `The model no longer gets entry ${number} from its next answer on`);
    await pty.exchange("/memory", /^ +not used · /);
    await pty.exchange("Say it again.", /Say it again\.(?:.|\n)*Noted\./);
    expect(JSON.stringify(server.asked.at(-1))).not.toContain("green cupboard");
    await pty.exchange(`/memory use ${number}`, `From its next answer on, the model gets entry ${number} again`);
    await pty.exchange("/memory drop 9", "There is no memory entry 9 on this branch.");
    using plain = Pty.open(place, ["--plain", ...MODEL], server.env);
    await plain.prompted();
    await plain.exchange("Where is the deployment key kept?", "(/memory shows them)");
  },
);

test("S26: a printed turn neither recalls nor remembers, with any settings, except with --memory", async () => {
  await banyan(place, ["config", "set", "memory.enabled", "true"]);
  await using server = await modelServer({ text: "Noted." });
  const say = (words: string, ...args: readonly string[]) =>
    banyan(place, ["-p", words, ...args, ...MODEL], { env: server.env });
  await say("The deployment key is kept in the green cupboard.");
  expect(existsSync(inHome("data", "memory.sqlite"))).toBe(false);
  await say("The deployment key is kept in the green cupboard.", "--memory");
  await say("Where is the deployment key kept?");
  expect(JSON.stringify(server.asked.at(-1))).not.toContain("green cupboard");
  const { stderr } = await say("Where is the deployment key kept?", "--memory");
  expect(JSON.stringify(server.asked.at(-1))).toContain("green cupboard");
  expect(stderr).toContain("Memory added to the prompt:");
});
