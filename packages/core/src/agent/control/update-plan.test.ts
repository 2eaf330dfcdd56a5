import { expect, test } from "vitest";
import { type Event, emptyConversation, isEvent, pathTo, reduce } from "../../conversation/index.ts";
import { planOnPath } from "../../conversation/shown/shown-plan.ts";
import { Session } from "../../session/session.ts";
import { call, collect, scriptedModel } from "../../testing/index.ts";
import { Agent } from "../agent.ts";
import { retry, say } from "../directive.ts";
import { updatePlan } from "./update-plan.ts";

const steps = (...titles: string[]) => titles.map((title) => ({ title, status: "pending" }));

test("a plan is in the log: it is there when the conversation is opened again, and each branch has its own", async () => {
  const model = scriptedModel([
    [call("update_plan", { steps: steps("look", "mend") })],
    "Planned.",
    [call("update_plan", { steps: steps("otherwise") })],
    "Planned anew.",
  ]);
  const agent = new Agent({ model, tools: [updatePlan()] });
  const session = Session.inMemory();
  const logged: Event[] = [];
  logged.push(...(await collect(agent.chat(say("Go."), { session }))).filter(isEvent));
  const first = session.state.leaf;
  logged.push(...(await collect(agent.chat(retry(), { session, at: first ?? "" }))).filter(isEvent));
  const second = session.state.leaf;
  const again = emptyConversation();
  for (const event of JSON.parse(JSON.stringify(logged)) as Event[]) reduce(again, event);
  const planAt = (leaf: string | null) => planOnPath(pathTo(again, leaf))?.map(({ title }) => title);
  expect([planAt(first), planAt(second)]).toEqual([["look", "mend"], ["otherwise"]]);
});

test.each([
  ["nonsense", { steps: "look, mend" }, 'at steps: Instance type "string" is invalid'],
  ["no steps", { steps: [] }, "at steps: Array has too few items"],
  [
    "a state that is none",
    { steps: [{ title: "look", status: "soon" }] },
    "at steps.0.status: Instance does not match",
  ],
  [
    "10,000 steps",
    { steps: Array.from({ length: 10_000 }, () => ({ title: "look", status: "pending" })) },
    "too many items (10000 > 100)",
  ],
  ["2,000 wrong steps", { steps: Array.from({ length: 2_000 }, () => ({ title: 1 })) }, "more."],
  ["a title without words", { steps: steps("look", " \n ") }, "Step 2 has no title. Describe the step."],
])("a call with %s gets a sentence, and puts no plan down", async (_what, input, sentence) => {
  const model = scriptedModel([[call("update_plan", input)], "Well."]);
  const items = await collect(new Agent({ model, tools: [updatePlan()] }).chat(say("Go.")));
  const failed = items.find(({ type }) => type === "call.failed");
  const output = failed && "output" in failed ? String(failed.output) : "";
  expect(output).toContain(sentence);
  expect(output.length).toBeLessThan(1_000);
});
