// A test that replays a recorded model offline.
import { Agent, defineTool } from "@banyan/core";
import { recorded } from "@banyan/core/testing";
import { resolveModel } from "@banyan/models";
import { expect, test } from "vitest";

const forecast = defineTool({
  name: "forecast",
  description: "Returns tomorrow's weather.",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  effects: "none",
  execute: () => "rain",
});

test("the agent looks at the forecast before it answers", async () => {
  const env = { OPENAI_API_KEY: "none", ...process.env };
  const file = new URL("../recordings/forecast.json", import.meta.url);
  const model = await recorded(file, (fetch) => resolveModel("openai/gpt-5-mini", { env, fetch }));
  const turn = await new Agent({ model, tools: [forecast] }).send("Do I need an umbrella in Oslo tomorrow?");
  expect(turn.text).toContain("umbrella");
});
