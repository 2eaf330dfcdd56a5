import { defineTool, type Permission } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { describe, expect, test } from "vitest";
import { ask } from "./testing/request.fixture.ts";
import { serving, TOKEN } from "./testing/serving.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

const say = (text: string) => [{ type: "text", text }] as const;

const bearer = { authorization: `Bearer ${TOKEN}` };

test("S17: a conversation that is brought in over HTTP brings no rule, no question and no call that runs, and goes on", async () => {
  const made = () => {
    const runs: unknown[] = [];
    const tool = defineTool({
      name: "danger",
      description: "",
      input: { type: "object" },
      effects: "external",
      execute: (input: unknown) => String(runs.push(input)),
    });
    const permission: Permission = ({ allowed }) => ({ decision: allowed.includes("danger") ? "allow" : "ask" });
    return { runs, tools: [tool], permission };
  };
  const { runs: _, ...theirs } = made();
  const calls = [call("danger", { n: 1 })];
  const { server: elsewhere } = await serving({ model: scriptedModel([calls, "Done.", calls]), ...theirs });
  const them = await TestClient.connect(elsewhere);
  const { conversation } = await them.ask("conversation.create", {});
  await them.watch(conversation);
  await them.ask("turn.say", { conversation, parts: say("go") });
  const { question } = await them.item("call.approval-requested");
  const remember = { pattern: "danger", scope: "conversation" } as const;
  const answer = { decision: "allow", remember } as const;
  await them.ask("question.answer", { conversation, question, answer });
  await them.item("run.ended");
  await them.ask("rule.revoke", { conversation, pattern: "danger" });
  await them.ask("turn.say", { conversation, parts: say("once more") });
  const open = await them.item("call.approval-requested", (item) => item.question !== question);
  const { text } = await them.ask("conversation.export", { conversation, format: "json" });
  // As if the rule was still valid at the export.
  const given = text.replace(/,\n\{[^\n]*"rule.revoked"[^\n]*\}/, "");
  expect(given).not.toContain('"rule.revoked"');

  const { runs, ...here } = made();
  const { server: running } = await serving({ model: scriptedModel([calls, "Fine."]), ...here });
  const brought = await ask(running.address, "/api/v1/conversations", { method: "POST", headers: bearer, body: given });
  expect(brought).toMatchObject({ status: 200, body: JSON.stringify({ conversation }) });
  const client = await TestClient.connect(running);
  const { state } = await client.watch(conversation);
  expect({ allowed: state.allowed, questions: [...state.questions] }).toEqual({ allowed: [], questions: [] });
  const late = client.ask("question.answer", { conversation, question: open.question, answer: { decision: "allow" } });
  await expect(late).rejects.toMatchObject({ code: "not-found" });
  await client.ask("turn.say", { conversation, parts: say("go on") });
  const asked = await client.item("call.approval-requested");
  expect(runs).toEqual([]);
  await client.ask("question.answer", { conversation, question: asked.question, answer: { decision: "allow" } });
  await client.item("run.ended");
  expect(runs).toEqual([{ n: 1 }]);
});

test("S10: a secret that a person sends is in no log, no answer to the model and no client", async () => {
  const model = scriptedModel(["Thanks.", "Thanks.", "Thanks."]);
  const { server: running } = await serving({ model });
  const client = await TestClient.connect(running);
  const { conversation } = await client.ask("conversation.create", {});
  await client.watch(conversation);
  const { message } = await client.ask("turn.say", { conversation, parts: say("my key is sk-secret1") });
  await client.item("run.ended");
  await client.ask("turn.retry", { conversation, at: message, parts: say("it is sk-secret2") });
  await client.until(() => client.items.filter(({ type }) => type === "run.ended").length === 2);
  const { text } = await client.ask("conversation.export", { conversation, format: "json" });
  const seen = JSON.stringify([text, client.frames, model.requests]);
  expect(seen).toContain("[redacted:key]");
  expect(seen).not.toMatch(/sk-secret\d/);
});

test("S12: texts of tools and models stay text, and a downloaded file is not shown as a page", async () => {
  const hostile =
    '<img src="https://evil.example/x"><script>alert(1)</script>\u001b]0;owned\u0007[a](javascript:alert(1))';
  const { server: running } = await serving({ model: scriptedModel([hostile]) });
  const client = await TestClient.connect(running);
  const { conversation } = await client.ask("conversation.create", {});
  const mirror = await client.watch(conversation);
  await client.ask("turn.say", { conversation, parts: say(hostile) });
  await client.item("run.ended");
  expect([...mirror.state.messages.values()].map(({ parts }) => parts)).toEqual([say(hostile), say(hostile)]);
  const page = await ask(running.address, `/api/v1/conversations/${conversation}/export?format=html`, {
    headers: bearer,
  });
  expect(page.headers["content-disposition"]).toBe(`attachment; filename="${conversation}.html"`);
  expect(page.headers["x-content-type-options"]).toBe("nosniff");
  expect(page.body).not.toMatch(/<script|<img/);
});

describe("S14: nothing approves but an approval", () => {
  const danger = () => {
    const runs: unknown[] = [];
    const tool = defineTool({
      name: "danger",
      description: "",
      input: { type: "object" },
      effects: "external",
      execute: (input: unknown) => runs.push(input),
    });
    const model = scriptedModel([[call("danger", { n: 1 })], "Done."]);
    return { runs, options: { model, tools: [tool], permission: () => ({ decision: "ask" }) as const } };
  };

  test("S14: an answer without a decision, with an unknown decision or with other content decides nothing", async () => {
    const { runs, options } = danger();
    const { server: running } = await serving(options);
    const client = await TestClient.connect(running);
    const { conversation } = await client.ask("conversation.create", {});
    await client.watch(conversation);
    await client.ask("turn.say", { conversation, parts: say("go") });
    const { question } = await client.item("call.approval-requested");
    for (const answer of [
      {},
      "allow",
      "",
      true,
      { decision: "" },
      { decision: "yes" },
      { decision: "Allow" },
      { allow: true },
      { decision: "allow", key: "Enter" },
    ]) {
      const given = client.ask("question.answer", { conversation, question, answer: answer as never });
      await expect(given, JSON.stringify(answer)).rejects.toMatchObject({ code: "malformed" });
    }
    const text = client.ask("question.answer", { conversation, question, answer: { decision: "answer", text: "yes" } });
    await expect(text).rejects.toMatchObject({ code: "invalid" });
    await client.ask("turn.say", { conversation, parts: say("yes"), delivery: "queue" });
    expect(runs).toEqual([]);
    await client.ask("question.answer", { conversation, question, answer: { decision: "allow" } });
    await client.item("call.completed");
    expect(runs).toEqual([{ n: 1 }]);
  });

  test("S14: an answer that does not count leaves no rule behind that always holds", async () => {
    const { runs, options } = danger();
    const { server: running, remembered } = await serving(options);
    const client = await TestClient.connect(running);
    const { conversation } = await client.ask("conversation.create", {});
    await client.watch(conversation);
    await client.ask("turn.say", { conversation, parts: say("go") });
    const { question } = await client.item("call.approval-requested");
    const remember = { pattern: "danger", scope: "always" } as const;
    const answered = (answer: object) =>
      client.ask("question.answer", { conversation, question, answer: answer as never });
    // These arguments do not fit the tool.
    await expect(answered({ decision: "allow", input: "5", remember })).rejects.toMatchObject({ code: "invalid" });
    const [first, second] = [answered({ decision: "deny" }), answered({ decision: "allow", remember })];
    await expect(second).rejects.toMatchObject({ code: "not-found" });
    await first;
    expect({ remembered, runs }).toEqual({ remembered: [], runs: [] });
  });

  test("S14: the first of two answers counts, and the second is refused", async () => {
    const { runs, options } = danger();
    const { server: running } = await serving(options);
    const [one, other] = [await TestClient.connect(running), await TestClient.connect(running)];
    const { conversation } = await one.ask("conversation.create", {});
    await one.watch(conversation);
    await one.ask("turn.say", { conversation, parts: say("go") });
    const { question } = await one.item("call.approval-requested");
    await one.ask("question.answer", { conversation, question, answer: { decision: "deny", reason: "no" } });
    const late = other.ask("question.answer", { conversation, question, answer: { decision: "allow" } });
    await expect(late).rejects.toMatchObject({ code: "not-found" });
    await one.item("call.denied", ({ output }) => output.includes("no"));
    expect(runs).toEqual([]);
  });
});
