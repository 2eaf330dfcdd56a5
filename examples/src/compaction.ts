// A long conversation in a small context: a summary replaces earlier messages in requests, and nothing is lost.
import { Agent, pathTo, Session, textOf } from "@banyan/core";
import type { ModelRequest, PromptMessage } from "@banyan/core/drivers";
import { scriptedModel, spend, text } from "@banyan/core/testing";

const textIn = (message: PromptMessage) => message.parts.map((part) => ("text" in part ? part.text : "")).join("");
const wantsSummary = ({ messages }: ModelRequest) => messages.slice(-1).map(textIn).join().startsWith("Sum up");
const tokens = ({ messages }: ModelRequest) => Math.ceil(messages.map(textIn).join("").length / 4);

const model = scriptedModel((request) => [
  spend({ input: tokens(request), output: 40 }),
  text(
    wantsSummary(request)
      ? "The user is called Ada and likes figs."
      : `Noted. ${"A fig is a flower turned inside out. ".repeat(20)}`,
  ),
]);
const agent = new Agent({ model, compaction: { contextSize: 1_000, threshold: 0.8 } });
const session = Session.inMemory();
for (const said of [
  "I am Ada.",
  "I like figs.",
  "How do they grow?",
  "Who eats them?",
  "And the wasps?",
  "Who am I?",
]) {
  await agent.send(said, { session });
}

for (const message of pathTo(session.state, session.state.leaf)) {
  console.log(`${message.role.padEnd(9)} ${textOf(message).slice(0, 40)}`);
}
const last = model.requests.at(-1)?.messages ?? [];
console.log(`The last request has ${last.length} messages; the first of them says:`);
console.log(last[0] && textIn(last[0]));
