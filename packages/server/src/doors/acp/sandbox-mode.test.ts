import { methods, type RequestPermissionRequest } from "@agentclientprotocol/sdk/unstable";
import { defineTool } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { expect, test, vi } from "vitest";
import { editor, WORKSPACE } from "../../testing/editor.fixture.ts";

const { session } = methods.agent;

const eventually = (look: () => unknown) => vi.waitFor(look, { timeout: 60_000 });

const shell = defineTool({
  name: "shell",
  description: "Runs a command.",
  input: { type: "object" },
  effects: "external",
  about: ({ command }: { command: string }) => ({ command }),
  preview: () => ({ confinement: "In the sandbox: no network, writes only in this folder" }),
  execute: () => "done",
});

const run = (command: string) => [call("shell", { command })];

test("S37: an editor offers the mode while the server does, and is told the reason when the mode ends", async () => {
  const at = await editor({ model: scriptedModel(["Hello."]) });
  const opened = await at.agent.request(session.new, { cwd: WORKSPACE, mcpServers: [] });
  const { sessionId } = opened;
  const ids = (modes: readonly { readonly id: string }[] = []) => modes.map(({ id }) => id);
  expect(ids(opened.modes?.availableModes)).toEqual(["plan", "ask", "edits", "all"]);
  const use = (modeId: string) => at.agent.request(session.setMode, { sessionId, modeId });
  await expect(use("sandbox")).rejects.toThrow("A test has no sandbox.");
  // From here on, the editor gets updates.
  await eventually(() => expect(at.of("available_commands_update")).toHaveLength(1));
  at.modes?.refuse(undefined);
  const offered = () =>
    at
      .of("config_option_update")
      .at(-1)
      ?.configOptions.find(({ id }) => id === "mode");
  await eventually(() => expect(String(JSON.stringify(offered()))).toContain("rebuilt, not undone"));
  await use("sandbox");
  await eventually(() => expect(at.of("current_mode_update").at(-1)).toMatchObject({ currentModeId: "sandbox" }));
  at.modes?.lost("The sandbox has ended.");
  await eventually(() => expect(at.of("current_mode_update").at(-1)).toMatchObject({ currentModeId: "ask" }));
  await eventually(() =>
    expect(at.told("agent_thought_chunk")).toContain(
      "The sandbox has ended. Banyan asks before changes and commands again.",
    ),
  );
});

test("S37: the question about a command in the sandbox offers the mode; the answer allows the call and sets the mode", async () => {
  const options: string[][] = [];
  const at = await editor(
    {
      model: scriptedModel([run("npm test"), "Tested.", run("npm run lint"), "Clean."]),
      tools: [shell],
      permission: () => ({ decision: "ask" }),
    },
    {
      async permit({ options: choices }: RequestPermissionRequest) {
        options.push(choices.map(({ optionId }) => optionId));
        return { outcome: { outcome: "selected", optionId: options.length === 1 ? "sandbox" : "once" } };
      },
    },
  );
  at.modes?.refuse(undefined);
  const sessionId = await at.begin();
  await at.say(sessionId, "test");
  await at.say(sessionId, "lint");
  expect(options).toEqual([
    ["once", "sandbox", "no"],
    ["once", "no"],
  ]);
  expect(at.told("agent_message_chunk")).toBe("Tested.Clean.");
  await eventually(() => expect(at.of("current_mode_update").at(-1)).toMatchObject({ currentModeId: "sandbox" }));
});
