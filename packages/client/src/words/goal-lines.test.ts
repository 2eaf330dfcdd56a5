import { Agent, type ConversationState, Session, say } from "@banyan/core";
import type { Goal } from "@banyan/core/hosts";
import { fail, scriptedModel } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { goalLines, openGoals } from "./goal-lines.ts";

test("E15: the checks of a branch's open goal have their results, and a reached goal is not open", async () => {
  const session = Session.inMemory();
  const seen: string[][] = [];
  const look = ({ leaf }: { readonly leaf: string | null }, state: ConversationState = session.state) =>
    seen.push(goalLines(openGoals(state, leaf)));
  let runs = 0;
  const goal = {
    checks: [
      { what: "one", run: (at: { readonly leaf: string | null }) => ({ passed: look(at) > 0 }) },
      { what: "two", run: () => ({ passed: ++runs > 2, why: "it is too small" }) },
    ],
  } satisfies Goal;
  await new Agent({ model: scriptedModel(["1.", "2.", "3."]), goal }).send("Count.", { session });
  expect(seen).toEqual([
    ["not checked yet: one", "not checked yet: two"],
    ["passed: one", "failed: two (it is too small)"],
    ["passed: one", "failed: two (it is too small)", "The checks failed 2 times in the same way."],
  ]);
  expect(openGoals(session.state, session.state.leaf)).toEqual([]);
});

test("E15: a goal stays open if its turn breaks off, until the branch continues without the goal", async () => {
  const session = Session.inMemory();
  const retry = { attempts: 1 };
  const goal: Goal = { checks: [{ what: "one", run: () => ({ passed: true }) }] };
  const agent = new Agent({ model: scriptedModel([[fail("overloaded")], "Well."]), retry });
  await agent
    .with({ goal })
    .send("Count.", { session })
    .catch(() => {});
  expect(goalLines(openGoals(session.state, session.state.leaf))).toEqual(["not checked yet: one"]);
  for await (const _ of agent.chat(say("Never mind."), { session }));
  expect(openGoals(session.state, session.state.leaf)).toEqual([]);
});
