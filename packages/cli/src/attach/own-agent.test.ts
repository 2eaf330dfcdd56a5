import { methods } from "@agentclientprotocol/sdk/unstable";
import { Agent, defineTool } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { serve } from "@banyan/server";
import { memoryStore } from "@banyan/store/memory";
import { expect, onTestFinished, test } from "vitest";
import { home } from "../testing/banyan.ts";
import { editor } from "../testing/editor.ts";
import { hasTmux, Pty } from "../testing/pty.ts";
import { TOKEN } from "../testing/serving.ts";

const { session } = methods.agent;

/** Serves an agent of a program, whose tool asks first. */
async function served() {
  const refund = defineTool({
    name: "refund",
    description: "Pays an order back.",
    input: { type: "object" },
    effects: "external",
    execute: () => "12 EUR are on their way.",
  });
  const model = scriptedModel(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role !== "user") return "Paid back.";
    return JSON.stringify(last).includes("refund")
      ? [call("refund", {}, `refund_${messages.length}`)]
      : "We open at nine.";
  });
  const permission = () => ({ decision: "ask" }) as const;
  const agent = new Agent({ name: "shop", model, tools: [refund], permission });
  const store = memoryStore();
  const server = await serve(agent, { store, token: TOKEN });
  onTestFinished(() => server.stop());
  return server.address;
}

test("L1: an editor talks with the agent of another program, from any directory, and answers its questions", async () => {
  using place = home();
  const address = await served();
  const at = await editor(place, ["--attach", address], { env: { BANYAN_TOKEN: TOKEN } });
  const { sessionId } = await at.agent.request(session.new, { cwd: place.workspace, mcpServers: [] });
  expect(await at.say(sessionId, "when?")).toEqual({ stopReason: "end_turn" });
  expect(await at.say(sessionId, "refund it")).toEqual({ stopReason: "end_turn" });
  expect(at.said).toMatch(/We open at nine\..*Paid back\./s);
  expect(JSON.stringify(at.updates)).toContain("12 EUR are on their way.");
  await at.say(sessionId, "/tree");
  expect(at.said).toContain("#1   you");
  const { sessions } = await at.agent.request(session.list, { cwd: place.workspace });
  expect(sessions).toMatchObject([{ sessionId, cwd: expect.stringContaining("/") }]);
  await at.agent.request(session.close, { sessionId });
  await at.agent.request(session.load, { sessionId, cwd: place.workspace, mcpServers: [] });
  expect(at.strays).toEqual([]);
});

test.skipIf(!hasTmux)("L1: `banyan attach` talks with the agent of another program, and returns to it", async () => {
  using place = home();
  const address = await served();
  const env = { BANYAN_TOKEN: TOKEN };
  using pty = Pty.open(place, ["attach", address, "--new"], env);
  const greeting = await pty.prompted("Reply to shop:");
  expect(greeting).toContain(`banyan at ${address}\n`);
  pty.enter("when?");
  await pty.until("We open at nine.");
  await pty.prompted("Reply to shop:");
  pty.enter("/model");
  await pty.until("/model is not available for this agent.");
  pty.enter("refund it");
  await pty.asked();
  pty.press("y", "Enter");
  await pty.until("Paid back.");
  using again = Pty.open(place, ["attach", address], env);
  await again.until("Paid back.");
});
