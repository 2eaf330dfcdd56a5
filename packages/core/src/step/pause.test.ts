import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import type { ProviderPart } from "../conversation/part.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { noUsage } from "../conversation/usage.ts";
import type { ModelDriver } from "../ports/model.ts";
import { promptFrom } from "../run/prompt.ts";
import { Session } from "../session/session.ts";
import { end, parts, reasoning, scriptedModel, stall, text } from "../testing/index.ts";

const search: ProviderPart = { type: "provider", text: "search figs", provider: { acme: { part: { id: 1 } } } };
const found: ProviderPart = { type: "provider", text: "search answered", provider: { acme: { part: { id: 2 } } } };

test("a pause of the provider: the model is asked again at once, without a new message", async () => {
  const session = Session.inMemory();
  const model = scriptedModel([
    [text("Let me see."), parts(search), end("paused")],
    [parts(found), text("Figs."), reasoning("Sure."), text(" Ripe ones.")],
  ]);
  const turn = await new Agent({ model }).send("What grows here?", { session });
  expect(turn).toMatchObject({ reason: "answered", steps: 2, text: "Figs. Ripe ones." });

  const path = pathTo(session.state, session.state.leaf);
  expect(path.map((message) => (message.role === "assistant" ? message.finish : message.role))).toEqual([
    "user",
    "paused",
    "stop",
  ]);
  expect(path[1]?.parts).toEqual([{ type: "text", text: "Let me see." }, search]);
  expect(path[2]?.parts).toEqual([
    found,
    { type: "text", text: "Figs." },
    { type: "reasoning", text: "Sure." },
    { type: "text", text: " Ripe ones." },
  ]);
  expect(model.requests[1]?.messages).toEqual(promptFrom(path.slice(0, 2)));
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({ role: "assistant", paused: true });
});

test("a provider that pauses for ever meets the step limit like a model that calls a tool for ever", async () => {
  const session = Session.inMemory();
  const model = scriptedModel(({ toolChoice }) =>
    toolChoice === "none" ? "That is all." : [parts(search), end("paused")],
  );
  const turn = await new Agent({ model, limits: { steps: 3 } }).send("Go on", { session });
  expect(turn).toMatchObject({ reason: "limit", text: "That is all." });
  expect(model.requests).toHaveLength(4);
});

test("a provider's actions in an answer without an end are not kept", async () => {
  const session = Session.inMemory();
  const model = scriptedModel([[parts(search), stall()], "Here."]);
  const turn = await new Agent({ model, retry: { idle: 20, delay: 1 } }).send("Hello", { session });
  expect(turn.message?.parts).toEqual([{ type: "text", text: "Here." }]);
});

test("a provider's words about a refusal stay with the answer", async () => {
  const session = Session.inMemory();
  const model: ModelDriver = {
    id: "acme/large",
    family: "test",
    async stream(_, sink) {
      sink.push([
        { type: "text", text: "I will" },
        { type: "finish", reason: "filtered", usage: noUsage, explanation: "Not about that." },
      ]);
    },
  };
  const turn = await new Agent({ model }).send("Tell me", { session });
  expect(turn.message).toMatchObject({ finish: "filtered", error: "Not about that." });
  expect(turn.reason).toBe("answered");
});
