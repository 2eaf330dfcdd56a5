import { Agent, Session } from "@banyan/core";
import { ModelError } from "@banyan/core/drivers";
import { scriptedModel } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { styleFor } from "../../show/style.ts";
import { lastExchange } from "./exchange.ts";

test("W48, T60: an opened conversation names the reason of a turn without an answer, until a turn has an answer", async () => {
  const session = Session.inMemory();
  const model = scriptedModel((_, index) => {
    if (index === 0) throw new ModelError("authentication", "The key is wrong: set another one.");
    return "Here I am.";
  });
  const agent = new Agent({ model });
  const shown = () =>
    lastExchange(session.state, session.state.leaf, "banyan", {
      columns: 100,
      style: styleFor(process.stdout, "never"),
    });
  await agent.send("Hello?", { session }).catch(() => {});
  expect(shown().join("\n")).toMatch(/^you: Hello\?\n.*Failed: .*The key is wrong/);
  await agent.send("Again?", { session });
  expect(shown()).toEqual(["you: Again?", "banyan: Here I am."]);
});
