import { Agent, say } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";

const poet = new Agent({ name: "poet", model: scriptedModel(["A banyan drops roots, and each becomes a trunk."]) });
const onTurn = () => poet.chat(say("One line, please."));
const clerk = new Agent({ name: "clerk", model: scriptedModel(["The poet knows one."]), onTurn });
for await (const item of clerk.chat(say("I need a line about trees.")))
  if (item.type === "text.delta") console.log(`${item.agent}: ${item.text}`);
