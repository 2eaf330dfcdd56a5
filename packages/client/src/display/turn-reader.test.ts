import { Agent, say } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { TurnReader } from "./turn-reader.ts";

test("E15: protocols that stream one turn get the results of its goal", async () => {
  const run = ({ answer }: { readonly answer: string }) =>
    answer === "Two." ? { passed: true } : { passed: false, why: "it is too small" };
  const agent = new Agent({ model: scriptedModel(["One.", "Two."]), goal: { checks: [{ what: "two", run }] } });
  const reader = new TurnReader();
  const results: string[] = [];
  for await (const item of agent.chat(say("Count to two.")))
    for (const turnItem of reader.take(item)) if (turnItem.type === "goal") results.push(turnItem.text);
  expect(results).toEqual(["Goal not reached yet. These checks failed: two (it is too small).", "Goal reached: two."]);
});
