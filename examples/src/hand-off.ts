// Two agents in one conversation: a turn handler returns the chat of another agent, and the stream goes on.
import { Agent, say } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";

const poet = new Agent({
  name: "poet",
  model: scriptedModel(["A banyan drops its roots, and every root becomes a trunk."]),
});
const clerk = new Agent({
  name: "clerk",
  model: scriptedModel(["That is one for the poet."]),
  onTurn: () => poet.chat(say("One line, please.")),
});

for await (const item of clerk.chat(say("I need a line about trees."))) {
  if (item.type === "text.delta") process.stdout.write(`${item.agent}: ${item.text}\n`);
}
