// A server in its own process whose agent asks questions; signals end it while they are open. Its arguments: the directory of its
// store, the token, and the file to which each call of `write` appends a line.
import { appendFileSync } from "node:fs";
import { askClient, defineTool, launchAgent } from "@banyan/core";
import type { ModelRequest } from "@banyan/core/drivers";
import { updatePlan } from "@banyan/core/hosts";
import { call, type Scene, scriptedModel, text } from "@banyan/core/testing";
import { hostOf } from "@banyan/desk/testing";
import { sqliteStore } from "@banyan/store/sqlite";
import { serve } from "../server.ts";

const [directory = "", token = "", file = ""] = process.argv.slice(2);

const write = defineTool({
  name: "write",
  description: "Writes.",
  effects: "external",
  input: { type: "object", properties: { name: { type: "string" } } },
  execute: (input: unknown) => {
    const { name } = input as { readonly name: string };
    appendFileSync(file, `${name}\n`);
    return `wrote ${name}`;
  },
});
const look = defineTool({
  name: "look",
  description: "Looks.",
  effects: "none",
  input: { type: "object" },
  execute: () => "seen",
});

/** Model calls of a turn before the question. */
const STEPS = 4;

/** The model's output, chosen by the first word of the message: an earlier process may have run the first steps. */
function scene({ messages }: ModelRequest): Scene {
  const said = messages.findLast(({ role }) => role === "user")?.parts[0];
  const [word = "", name = ""] = said?.type === "text" ? said.text.split(/\s+/) : [];
  const step = messages
    .slice(messages.findLastIndex(({ role }) => role === "user") + 1)
    .filter(({ role }) => role === "assistant").length;
  if (word === "look" && step < STEPS) return [call("look")];
  if (step > 0) return word === "task" ? [call("finish_task", { result: "done" })] : [text("All is done.")];
  switch (word) {
    case "write":
    case "task":
      return [text("I write."), call("write", { name })];
    case "ask":
      return [call("ask_client", { question: "Which colour?" })];
    case "plan":
      return [call("update_plan", { steps: [{ title: "mend it", status: "pending" }], hand_in: true })];
    case "launch":
      return [call("launch_agent", { task: `task ${name}`, expected_output: "words" })];
    case "locate":
      return [call("locate", { of: "me" }), call("locate", { of: "you" })];
    default:
      return [text(`You said: ${word}`)];
  }
}

const store = sqliteStore({ directory, program: "banyan serve" });
const { host } = hostOf(store, {
  model: scriptedModel(scene),
  tools: [write, look, askClient(), launchAgent(), updatePlan()],
  limits: { steps: STEPS, policy: "ask" },
  permission: ({ tool, input }) =>
    tool.name === "write" || tool.about?.(input).handsIn ? { decision: "ask" } : { decision: "allow" },
});
const server = await serve({ host, token, port: 0 });
let isAsked = false;
for (const signal of ["SIGTERM", "SIGINT"])
  process.on(signal, async () => {
    if (isAsked) process.exit(1);
    isAsked = true;
    await server.stop();
    await store.close();
    process.exit(0);
  });
process.stdout.write(`${server.address}\n`);
