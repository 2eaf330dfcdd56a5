import { connect } from "@banyan/client/node";
import { defineTool } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { approvalIn, offeredModes } from "@banyan/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { serving, TOKEN } from "./testing/serving.fixture.ts";
import { talking } from "./testing/talking.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

/** The settings as clients before mode `sandbox` read them. */
const formerSettings = z.object({
  model: z.string(),
  approval: z.enum(["plan", "ask", "edits", "all"]),
  unasked: z.array(z.string()).default([]),
  carriedOut: z.array(z.object({ conversation: z.string(), approval: z.enum(["ask", "edits"]) })).default([]),
});

async function serve() {
  const { server, modes, host } = await serving({ model: scriptedModel([]) });
  const client = await connect({ address: server.address, token: TOKEN, client: "a test" });
  onTestFinished(() => client.close());
  return { server, client, modes, host };
}

test("S37: a mode that is not available is refused with the reason, and the mode before stays", async () => {
  const { client, host } = await serve();
  await client.ask("approval.use", { mode: "edits" });
  expect(offeredModes(client.welcome.settings)).toEqual(["plan", "ask", "edits", "all"]);
  await expect(client.ask("approval.use", { mode: "sandbox" })).rejects.toMatchObject({
    code: "invalid",
    message: "A test has no sandbox.",
  });
  expect([host.approval, approvalIn(client.welcome.settings, undefined)]).toEqual(["edits", "edits"]);
});

test("S37: clients learn when the mode becomes available, and use it", async () => {
  const { client, modes, host } = await serve();
  modes.refuse(undefined);
  await expect.poll(() => offeredModes(client.welcome.settings)).toContain("sandbox");
  await client.ask("approval.use", { mode: "sandbox" });
  const { settings } = client.welcome;
  expect([host.approval, approvalIn(settings, undefined), approvalIn(settings, "any")]).toEqual(
    Array(3).fill("sandbox"),
  );
  await client.ask("approval.use", { mode: "ask" });
  expect(approvalIn(client.welcome.settings, undefined)).toBe("ask");
});

test("S37: a client that does not know the mode reads every frame, and shows the mode as edits", async () => {
  const { server, client, modes } = await serve();
  modes.refuse(undefined);
  const shown: string[] = [];
  for (const mode of ["plan", "ask", "edits", "sandbox"] as const) {
    await client.ask("approval.use", { mode });
    const { frames } = await TestClient.connect(server);
    const welcome = frames.find(({ type }) => type === "welcome");
    shown.push(z.object({ settings: formerSettings }).parse(welcome).settings.approval);
  }
  expect(shown).toEqual(["plan", "ask", "edits", "edits"]);
});

describe("an answer that also sets the mode", () => {
  const asks = () => {
    const ran: string[] = [];
    const tools = ["shell", "note"].map((name) =>
      defineTool({
        name,
        description: "",
        input: { type: "object" },
        effects: "external",
        about: ({ command }: { command?: string }) => (command === undefined ? {} : { command }),
        preview: () => ({ confinement: "In the sandbox: no network" }),
        execute({ command = "note" }: { command?: string }) {
          ran.push(command);
          return "done";
        },
      }),
    );
    return { ran, tools };
  };

  async function asking() {
    const { ran, tools } = asks();
    const scene = [call("shell", { command: "npm test" }), call("shell", { command: "npm run lint" }), call("note")];
    const at = await talking({
      model: scriptedModel([scene, "Done."]),
      tools,
      permission: ({ tool }) =>
        at.host.approval === "sandbox" && tool.name === "shell" ? { decision: "allow" } : { decision: "ask" },
    });
    at.modes.refuse(undefined);
    await at.client.ask("turn.say", { conversation: at.conversation, parts: [{ type: "text", text: "go" }] });
    await at.client.until(() => at.state.questions.size === 3);
    const [first = "", , last = ""] = at.state.questions.keys();
    return { ...at, ran, first, last };
  }

  test("S37: the call runs, and so do the waiting calls that the mode allows, and no others", async () => {
    const { client, conversation, state, ran, host, first } = await asking();
    const answer = { decision: "allow" } as const;
    await client.ask("question.answer", { conversation, question: first, answer, approval: "sandbox" });
    await client.until(() => ran.length === 2 && state.questions.size === 1);
    expect([ran.toSorted(), host.approval]).toEqual([["npm run lint", "npm test"], "sandbox"]);
  });

  test("S37, S14: if the mode is refused, or the answer is no approval of a call, nothing is answered or changed", async () => {
    const { client, conversation, state, ran, host, modes, first } = await asking();
    const ask = (answer: { decision: "allow" | "deny" }) =>
      client.ask("question.answer", { conversation, question: first, answer, approval: "sandbox" });
    await expect(ask({ decision: "deny" })).rejects.toMatchObject({ code: "invalid" });
    modes.refuse("The trial failed.");
    await expect(ask({ decision: "allow" })).rejects.toMatchObject({ code: "invalid", message: "The trial failed." });
    expect([ran, state.questions.size, host.approval]).toEqual([[], 3, "ask"]);
  });

  test("S37: when the mode ends by itself, every open conversation is told the reason, and calls ask again", async () => {
    const { client, modes, host } = await asking();
    await client.ask("approval.use", { mode: "sandbox" });
    modes.lost("The sandbox sk-secret has ended.");
    expect(await client.item("approval.withdrawn")).toEqual({
      type: "approval.withdrawn",
      reason: "The sandbox [redacted:key] has ended.",
    });
    expect(host.approval).toBe("ask");
  });
});
