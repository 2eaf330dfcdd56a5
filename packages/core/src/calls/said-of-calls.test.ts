import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { launchAgent } from "../agent/control/launch-agent.ts";
import { say } from "../agent/directive.ts";
import { type FeedItem, isDelta } from "../conversation/feed-item.ts";
import { defineTool } from "../ports/define-tool.ts";
import { collect } from "../testing/collect.ts";
import { call, finishTask, scriptedModel, text } from "../testing/scripted-model.ts";
import { agentOf, launch } from "../turn/launch.fixture.ts";

const act = defineTool({
  name: "act",
  description: "Acts.",
  input: { type: "object", properties: { how: { type: "string" } }, required: ["how"] },
  effects: "external",
  execute: (input, { progress }) => {
    progress("acting");
    if (JSON.stringify(input).includes("badly")) throw new Error("it broke");
    return "done";
  },
});

test("B69: events that ask about a call, or end it, carry the tool and the arguments that run", async () => {
  const asked = [{ how: "well" }, { how: "badly" }, { how: "never" }, { how: "asked" }, { how: "stopped" }];
  const model = scriptedModel([
    [...asked.map((input) => call("act", input)), call("act", { wrong: 1 }), call("nil")],
    "ok",
  ]);
  const agent = new Agent({
    model,
    tools: [act],
    permission: ({ input }) => {
      const how = JSON.stringify(input);
      if (how.includes("never")) return { decision: "deny", reason: "never" };
      return { decision: how.includes("asked") || how.includes("stopped") ? "ask" : "allow" };
    },
  });
  const chat = agent.chat(say("Go"));
  const items: FeedItem[] = [];
  let changed = false;
  for await (const item of chat) {
    items.push(item);
    if (item.type !== "call.approval-requested") continue;
    if (JSON.stringify(item.input).includes("stopped")) await chat.session.answer(item.question, { decision: "deny" });
    else {
      changed = true;
      await chat.session.answer(item.question, { decision: "allow", input: { how: "as changed" } });
    }
  }
  expect(changed).toBe(true);
  const told = items.flatMap((item) => {
    switch (item.type) {
      case "call.approval-requested":
      case "call.completed":
      case "call.failed":
      case "call.denied":
      case "call.cancelled":
        return [[item.type, item.tool, item.input] as const];
      default:
        return [];
    }
  });
  expect(told.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))).toEqual([
    ["call.approval-requested", "act", { how: "asked" }],
    ["call.approval-requested", "act", { how: "stopped" }],
    ["call.completed", "act", { how: "as changed" }],
    ["call.completed", "act", { how: "well" }],
    ["call.denied", "act", { how: "never" }],
    ["call.denied", "act", { how: "stopped" }],
    ["call.failed", "act", { how: "badly" }],
    ["call.failed", "act", { wrong: 1 }],
    ["call.failed", "nil", {}],
  ]);
  expect(items.filter((item) => item.type === "call.executing").map(({ tool }) => tool)).toEqual(["act", "act", "act"]);
});

test("B69: calls of an answer that broke off have them too", async () => {
  const hang = defineTool({
    name: "hang",
    description: "Waits.",
    input: { type: "object" },
    effects: "external",
    execute: (_, { signal }) => once(signal, "abort"),
  });
  const model = scriptedModel([[call("hang", { how: "long" }), call("act", { how: "x" })]]);
  const agent = new Agent({ model, tools: [hang, act] });
  const chat = agent.chat(say("Go"));
  const items: FeedItem[] = [];
  for await (const item of chat) {
    items.push(item);
    if (item.type === "call.executing") chat.session.interrupt();
  }
  const cancelled = items.filter((item) => item.type === "call.cancelled");
  expect(cancelled.map(({ tool, input }) => [tool, input])).toEqual([
    ["hang", { how: "long" }],
    ["act", { how: "x" }],
  ]);
});

test("B68: each delta names its run, its agent, and how deep that is", async () => {
  const { agent } = agentOf(
    (task, round) => {
      if (task === "Go") return round === 0 ? [text("I ask."), launch("Count.")] : "Three.";
      return round === 0 ? [text("I count."), call("act", { how: "well" })] : [finishTask("three")];
    },
    { name: "same", tools: [act, launchAgent()] },
  );
  const items = await collect(agent.chat(say("Go")));
  const runs = items.filter((item) => item.type === "run.started").map(({ run }) => run);
  const voices = items.filter(isDelta).map((item) => [item.type, item.agent, item.depth, runs.indexOf(item.run)]);
  expect(voices).toContainEqual(["call.output.delta", "same", 1, 1]);
  expect(voices.every(([, , depth, run]) => depth === run)).toBe(true);
  const ownVoice = items.flatMap((item) => (item.type === "text.delta" && item.depth === 0 ? [item.text] : []));
  expect(ownVoice.join(" ")).toBe("I ask. Three.");
});

test("B74: a tool learns which client began the turn, in sub-agents too", async () => {
  const told: (string | undefined)[] = [];
  const who = defineTool({
    name: "act",
    description: "Asks.",
    effects: "none",
    input: { type: "object" },
    execute: (_, { client }) => told.push(client),
  });
  const scene = (task: string, round: number) => {
    if (task === "Go") return round === 0 ? [call("act"), launch("Count.")] : "Three.";
    return round === 0 ? [call("act")] : [finishTask("three")];
  };
  const { agent } = agentOf(scene, { tools: [who, launchAgent()] });
  await agent.send("Go", { client: "my-program 0.1" });
  expect(told).toEqual(["my-program 0.1", "my-program 0.1"]);
  const { agent: other } = agentOf(scene, { tools: [who, launchAgent()] });
  await other.send("Go");
  expect(told.slice(2)).toEqual([undefined, undefined]);
});

test("B74: docs/tools.md lists all fields of the context of a tool", async () => {
  const page = readFileSync(new URL("../../../../docs/tools.md", import.meta.url), "utf8");
  const names: string[] = [];
  const look = defineTool({
    name: "act",
    description: "Looks.",
    effects: "none",
    input: { type: "object" },
    execute: (_, context) => void names.push(...Object.keys(context)),
  });
  await new Agent({ model: scriptedModel([[call("act")], "ok"]), tools: [look] }).send("Go");
  const [, table = ""] = /## Context of a running call([\s\S]*?)\n## /.exec(page) ?? [];
  expect(names.length).toBeGreaterThan(15);
  expect(names.filter((name) => !new RegExp(`\`${name}[\`(]`).test(table))).toEqual([]);
});
