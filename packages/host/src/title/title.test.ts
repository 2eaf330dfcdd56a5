import { Agent, Session } from "@banyan/core";
import { fail, type Script, scriptedModel, spend, stall, text } from "@banyan/core/testing";
import { memoryStore } from "@banyan/store/memory";
import { expect, test } from "vitest";
import { titleInBackground } from "./title.ts";

async function talk(script: Script, more: readonly string[] = []) {
  const store = memoryStore();
  const session = await Session.open(store);
  const model = scriptedModel(script, { id: "scripted/cheap", price: { input: 1, output: 1 } });
  const naming = titleInBackground(session, model);
  const agent = new Agent({ model: scriptedModel(() => "Figs are flowers.") });
  for (const said of ["What is a fig?", ...more]) await agent.send(said, { session });
  await new Promise((resolve) => setImmediate(resolve));
  await naming[Symbol.asyncDispose]();
  const [summary] = await store.list();
  return { session, model, title: session.state.title, listed: summary?.title };
}

test("B54: a conversation gets its title from a cheap model when its first turn has ended, once", async () => {
  const { model, title, listed } = await talk(["What figs are"], ["And a date?"]);
  expect(title).toBe("What figs are");
  expect(listed).toBe("What figs are");
  expect(model.asked).toBe(1);
  expect(JSON.stringify(model.requests[0]?.messages)).toContain("What is a fig?");
  expect(model.requests[0]?.toolChoice).toBe("none");
});

test("B54: the conversation's total includes its cost", async () => {
  const { session } = await talk([[text("Figs"), spend({ input: 1_000_000 })]]);
  expect(session.state.usage.input).toBe(1_000_001);
});

test.each<[string, Script, string | undefined]>([
  ["is quoted and ends with a full stop", ['"What figs are."'], "What figs are"],
  ["is a heading with an explanation", ["# What figs are\n\nI chose it because"], "What figs are"],
  ["is long", [`${"fig ".repeat(40)}`], `${"fig ".repeat(15).slice(0, 59).trimEnd()}…`],
  ["holds control characters", ["Fi\u001b[31mgs"], "Fi[31mgs"],
  ["is empty", [" "], undefined],
  ["cannot be had", [[fail("quota")]], undefined],
])("B54: a title that %s", async (_, script, title) => {
  expect((await talk(script)).title).toBe(title);
});

test("B54: lists show the first line without a title, and no turn waits for a model that hangs", async () => {
  const { title, listed } = await talk([[stall()]]);
  expect(title).toBeUndefined();
  expect(listed).toBe("What is a fig?");
});

test("B54: a conversation that the user named keeps its name", async () => {
  const session = await Session.open(memoryStore());
  await session.notes.rename("Mine");
  const model = scriptedModel(["Another"]);
  const naming = titleInBackground(session, model);
  await new Agent({ model: scriptedModel(["ok"]) }).send("Hi", { session });
  await naming[Symbol.asyncDispose]();
  expect([session.state.title, model.asked]).toEqual(["Mine", 0]);
});
