// One answer without streaming, with callbacks for calls and answers.
import { Agent, defineTool, TurnError } from "@banyan/core";
import { call, fail, scriptedModel } from "@banyan/core/testing";

const clock = defineTool({
  name: "clock",
  description: "Tells the time.",
  input: { type: "object" },
  effects: "none",
  execute: () => "12:00",
});

const agent = new Agent({
  model: scriptedModel([[call("clock")], "It is noon.", [fail("authentication")]]),
  tools: [clock],
  callbacks: {
    onCall: (call) => console.log(`${call.tool} said ${call.output}`),
    onAnswer: (message) => console.log(`answered by ${message.model}`),
  },
});

const turn = await agent.send("What time is it?");
console.log(turn.text, turn.steps, turn.usage.output, turn.cost);

try {
  await agent.send("And now?");
} catch (error) {
  if (!(error instanceof TurnError)) throw error;
  console.log(`${error.code}: ${error.message}`);
}
