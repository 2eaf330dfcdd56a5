// Hooks of an agent: one asks a person before what acts, one tells the model something when a call has failed.
import { Agent, defineTool, Session, say } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";

const deploy = defineTool({
  name: "deploy",
  description: "Deploys.",
  input: { type: "object" },
  effects: "external",
  execute: () => Promise.reject(new Error("the disk is full")),
});
const agent = new Agent({
  model: scriptedModel([[call("deploy")], "It failed."]),
  tools: [deploy],
  hooks: {
    beforeCall: ({ tool }) => (tool.effects === "external" ? { decision: "ask" } : undefined),
    afterCall: ({ status }) => (status === "failed" ? "Look at the log before you try again." : undefined),
  },
});

const session = Session.inMemory();
for await (const item of agent.chat(say("Deploy it."), { session })) {
  if (item.type === "call.approval-requested") {
    console.log(`May ${item.tool} run? Yes.`);
    await session.answer(item.question, { decision: "allow" });
  }
  if (item.type === "call.failed") console.log(item.output);
}
