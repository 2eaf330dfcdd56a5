import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { home } from "../testing/banyan.ts";
import { modelServer, shell } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

test.skipIf(!hasTmux)(
  "B41, F23: a working sub-agent is listed, gets a message and is stopped, and its parent gets the findings so far",
  async () => {
    using place = home();
    const made = async (file: string) => {
      while (!existsSync(join(place.workspace, file))) await sleep(50);
    };
    await using server = await modelServer(
      { calls: [{ tool: "launch_agent", input: { task: "dig", expected_output: "a word" } }] },
      shell("touch digging; until [ -e told ]; do sleep 0.05; done"),
      { text: "It is deep.", ...shell("touch deeper; sleep 1000") },
      { text: "Filled it in." },
    );
    using pty = Pty.open(place, ["--allow", "shell", "--model", "openai-compatible/test"], server.env);
    await pty.prompted();
    pty.enter("have a hole dug");
    await made("digging");
    pty.enter("/agents");
    await pty.until(/^❯ 1 +dig +running, /);
    pty.press("Left");
    await pty.until("❯ have a hole dug");
    pty.enter("/agents tell 1 on the left");
    await pty.until("Sub-agent 1 gets your message before its next step.");
    pty.enter("/agents stop 2");
    await pty.until("No sub-agent 2 is working.");
    writeFileSync(join(place.workspace, "told"), "");
    await made("deeper");
    pty.enter("/agents stop 1");
    await pty.until("Stopping sub-agent 1. Its result so far goes to the agent that launched it.");
    await pty.until("Filled it in.");
    const [, , told = [], afterwards = []] = server.asked;
    expect(told.at(-1)).toMatchObject({ role: "user", content: "on the left" });
    expect(afterwards.at(-1)).toMatchObject({
      role: "tool",
      content: expect.stringMatching(/the sub-agent was stopped before it was done\. .*last text:\nIt is deep\./s),
    });
    await pty.prompted();
    pty.enter("/agents");
    await pty.until(/^❯ 1 +dig +failed, /);
  },
);
