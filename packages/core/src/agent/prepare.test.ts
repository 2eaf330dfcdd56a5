import { expect, test } from "vitest";
import type { ModelDriver, ModelSettings } from "../ports/model.ts";
import { Session } from "../session/session.ts";
import { scriptedModel } from "../testing/index.ts";
import { Agent } from "./agent.ts";

test("facts in the name of a model apply, and the settings of the agent precede", async () => {
  const script = scriptedModel(["One.", "Two.", "Three."]);
  const model: ModelDriver = { ...script, settings: { effort: "high", maxTokens: 100 } };
  const asked = async (settings?: ModelSettings) => {
    await new Agent({ model, ...(settings && { settings }) }).send("Hello", { session: Session.inMemory() });
    return script.requests.at(-1)?.settings;
  };
  expect(await asked()).toEqual({ effort: "high", maxTokens: 100 });
  expect(await asked({ effort: "low", temperature: 1 })).toEqual({ effort: "low", maxTokens: 100, temperature: 1 });
  expect(await asked({ effort: undefined, temperature: 1 })).toEqual({
    effort: "high",
    maxTokens: 100,
    temperature: 1,
  });
});
