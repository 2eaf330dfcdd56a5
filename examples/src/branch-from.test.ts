// A test with vitest that repeats the steps of a recorded model with another model.
import { Agent, defineTool, pathTo, Session } from "@banyan/core";
import { branchFrom, call, recorded, scriptedModel } from "@banyan/core/testing";
import { resolveModel } from "@banyan/models";
import { expect, test } from "vitest";

const forecast = defineTool({
  name: "forecast",
  description: "Returns tomorrow's weather.",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  effects: "none",
  execute: () => "rain",
});

test("another model asks for the forecast of the same city", async () => {
  const env = { OPENAI_API_KEY: "none", ...process.env };
  const file = new URL("recordings/forecast.json", import.meta.url);
  const model = await recorded(file, (fetch) => resolveModel("openai/gpt-5-mini", { env, fetch }));
  const session = Session.inMemory();
  const agent = new Agent({ model, tools: [forecast] });
  await agent.send("Do I need an umbrella in Oslo tomorrow?", { session });

  const [step] = pathTo(session.state, session.state.leaf).filter((message) => message.role === "assistant");
  // A test of your own has a model of another provider here.
  const other = scriptedModel([[call("forecast", { city: "Oslo" })]]);
  const response = await branchFrom(step, { session, agent, model: other });
  expect(response.calls.map(({ tool, input }) => ({ tool, input }))).toEqual(
    step?.calls.map(({ tool, input }) => ({ tool, input })),
  );
});
