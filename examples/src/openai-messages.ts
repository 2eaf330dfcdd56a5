// A conversation for programs that know the messages of OpenAI's chat format.
import { Agent, defineTool, pathTo, Session } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { toOpenAIMessages } from "@banyan/models";

const clock = defineTool({
  name: "clock",
  description: "Tells the time.",
  input: { type: "object" },
  effects: "none",
  execute: () => "12:30",
});

const session = Session.inMemory();
const model = scriptedModel([[call("clock", {}, "call_1")], "It is half past twelve."]);
await new Agent({ model, tools: [clock] }).send("What time is it?", { session });
for (const message of toOpenAIMessages(pathTo(session.state, session.state.leaf))) console.log(JSON.stringify(message));
