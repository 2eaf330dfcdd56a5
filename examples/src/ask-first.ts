import { Agent, defineTool, say } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";

const execute = () => "Paid.";
const pay = defineTool({ name: "pay", description: "Pays.", input: { type: "object" }, effects: "external", execute });
const model = scriptedModel([[call("pay")], "I did not pay."]);
const chat = new Agent({ model, tools: [pay], permission: () => ({ decision: "ask" }) }).chat(say("Pay the bill."));
for await (const item of chat)
  if (item.type === "call.approval-requested") await chat.session.answer(item.question, { decision: "deny" });
  else if (item.type === "call.denied") console.log(item.output);
