// An agent in task mode gives parts of its task to two sub-agents, which work at the same time.
import { Agent, launchAgent, Session } from "@banyan/core";
import type { ModelRequest } from "@banyan/core/drivers";
import { call, scriptedModel, text } from "@banyan/core/testing";

/** Returns the task of the agent, or of the sub-agent, that calls the model. */
const taskOf = ({ messages: [first] }: ModelRequest) =>
  first?.role === "user" && first.parts[0]?.type === "text" ? first.parts[0].text : "";

const count = (what: string) => call("launch_agent", { task: `Count the ${what}.`, expected_output: "a number" });
const model = scriptedModel((request) => {
  const task = taskOf(request);
  const begins = request.messages.length === 1;
  if (task.startsWith("Count the figs")) return [text("Counting."), call("finish_task", { result: "12" })];
  if (task.startsWith("Count the roots")) return [call("finish_task", { result: "30" })];
  return begins ? [count("figs"), count("roots")] : [call("finish_task", { result: "12 figs and 30 roots." })];
});

const agent = new Agent({ model, mode: "task", tools: [launchAgent()], limits: { steps: 20, depth: 1 } });
const session = Session.inMemory();
const turn = await agent.send("Describe the tree.", { session });
console.log(`${turn.reason}: ${turn.result}`);

// One log has everything. Each message of a sub-agent names the call that launched it.
for (const message of session.state.messages.values()) {
  if (message.parentId === null)
    console.log(message.call === undefined ? "the agent" : `a sub-agent of ${message.call}`);
}
console.log(`${turn.usage.output} tokens of output, those of the sub-agents included`);
