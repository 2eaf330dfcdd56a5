// A turn handler that looks at the end of a turn. It continues, asks another model, sends a message, or stops.
import { Agent, defineTool, resume, retry, say, stop, type TurnHandler } from "@banyan/core";
import { call, cut, fail, scriptedModel, text } from "@banyan/core/testing";

const look = defineTool({
  name: "look",
  description: "Looks at the next tree.",
  input: { type: "object" },
  effects: "none",
  execute: () => "a fig",
});
const small = scriptedModel([[fail("overloaded")]]);
const large = scriptedModel([
  [text("There are"), cut()],
  [call("look")],
  [call("look")],
  "Two figs so far.",
  "Three figs in all.",
  "Goodbye.",
]);

const onTurn: TurnHandler = (_, agent, turn) => {
  console.log(`${turn.reason}: ${turn.text || turn.error?.message}`);
  switch (turn.reason) {
    case "failed":
      return turn.message ? agent.chat(resume()) : agent.with({ model: large }).chat(retry());
    case "limit":
      return agent.chat(say("Go on."));
    default:
      return agent.chat(turn.text === "Goodbye." ? stop() : say("Thank you."));
  }
};
const agent = new Agent({ model: small, tools: [look], onTurn, limits: { steps: 2 }, retry: { attempts: 1 } });

for await (const item of agent.chat(say("How many figs are there?"))) {
  if (item.type === "chat.ended") console.log(`The chat ended: ${item.reason}`);
}
