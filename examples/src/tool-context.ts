// One agent per user: the tool knows the user, and the model and the log do not.
import { Agent, defineTool, say, type ToolContext } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";

interface Shop {
  readonly user: string;
  readonly orders: ReadonlyMap<string, readonly string[]>;
}

const myOrders = defineTool({
  name: "my_orders",
  description: "Lists the orders of the user.",
  input: { type: "object" },
  effects: "none",
  execute: (_, { context }: ToolContext<Shop>) => context.orders.get(context.user) ?? [],
});
const tools = [myOrders];

const orders = new Map([["ada", ["tea"]]]);
const agentFor = (user: string) => {
  const model = scriptedModel([[call("my_orders")], "Your orders are above."]);
  return new Agent({ model, tools, context: { user, orders } });
};

for (const user of ["ada", "bob"]) {
  for await (const item of agentFor(user).chat(say("What did I order?")))
    if (item.type === "call.completed") console.log(`${user}: ${item.output}`);
}
