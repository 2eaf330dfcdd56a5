import { defineTool } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { describe, expect, test } from "vitest";
import { serving } from "./testing/serving.fixture.ts";
import { talking } from "./testing/talking.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

const say = (words: string) => [{ type: "text", text: words }] as const;

describe("B51, W32-W35: waiting questions", () => {
  const asking = () => {
    const ran: unknown[] = [];
    const shell = defineTool({
      name: "shell",
      description: "",
      input: { type: "object" },
      effects: "external",
      execute: (input: unknown) => {
        ran.push(input);
        return "ok";
      },
    });
    return { ran, shell };
  };

  test("B51: the feed shows each state of a call, with the arguments that a user changed", async () => {
    const { ran, shell } = asking();
    const model = scriptedModel([[call("shell", { command: "rm x" })], "Done."]);
    const options = { model, tools: [shell], permission: () => ({ decision: "ask", pattern: "shell(rm x)" }) as const };
    const { client, conversation, ended, state } = await talking(options);
    await client.ask("turn.say", { conversation, parts: say("go") });
    const { question, pattern } = await client.item("call.approval-requested");
    expect(pattern).toBe("shell(rm x)");
    expect([...state.questions.values()]).toMatchObject([{ id: question, type: "approval" }]);
    await client.ask("question.answer", {
      conversation,
      question,
      answer: { decision: "allow", input: { command: "rm y" } },
    });
    await ended(1);
    expect(
      client.items.map(({ type }) => type).filter((type) => type.startsWith("call.") && type !== "call.input.delta"),
    ).toEqual([
      "call.pending",
      "call.approval-requested",
      "call.approval-resolved",
      "call.executing",
      "call.completed",
    ]);
    expect(ran).toEqual([{ command: "rm y" }]);
    expect([...state.messages.values()][1]).toMatchObject({
      calls: [{ input: { command: "rm x" }, executedInput: { command: "rm y" }, status: "completed" }],
    });
  });

  test("W35: a rule of the conversation also covers waiting calls, is listed, and can be revoked", async () => {
    const { ran, shell } = asking();
    const model = scriptedModel([
      [call("shell", { n: 1 }), call("shell", { n: 2 })],
      "Done.",
      [call("shell", { n: 3 })],
      "Done.",
    ]);
    const parallel = { ...shell, parallel: true };
    const { client, conversation, ended, state } = await talking({
      model,
      tools: [parallel],
      permission: ({ conversation: { allowed } }) =>
        allowed.includes("shell") ? { decision: "allow" } : { decision: "ask", pattern: "shell" },
    });
    await client.ask("turn.say", { conversation, parts: say("go") });
    await client.until(() => state.questions.size === 2);
    const question = [...state.questions.keys()][0] as string;
    const wrong = { decision: "allow", remember: { pattern: "shell(", scope: "conversation" } } as const;
    await expect(client.ask("question.answer", { conversation, question, answer: wrong })).rejects.toMatchObject({
      code: "invalid",
    });
    const remember = { pattern: "shell", scope: "conversation" } as const;
    await client.ask("question.answer", { conversation, question, answer: { decision: "allow", remember } });
    await ended(1);
    expect(ran).toHaveLength(2);
    expect(state.allowed).toContain("shell");
    await client.ask("rule.revoke", { conversation, pattern: "shell" });
    expect(state.allowed).toEqual([]);
    await client.ask("turn.say", { conversation, parts: say("again") });
    await client.until(() => state.questions.size === 1);
    const [again] = [...state.questions.values()];
    await client.ask("question.answer", { conversation, question: again?.id as string, answer: { decision: "deny" } });
    await ended(2);
    expect(ran).toHaveLength(2);
  });

  test("W34: one list has the waiting questions of all conversations, each with its call", async () => {
    const { shell } = asking();
    const model = scriptedModel((request) => (request.messages.length === 1 ? [call("shell", { n: 1 })] : "Done."));
    const { client, conversation } = await talking({
      model,
      tools: [shell],
      permission: () => ({ decision: "ask", pattern: "shell" }),
    });
    const { conversation: other } = await client.ask("conversation.create", {});
    for (const each of [conversation, other]) {
      await client.ask("turn.say", { conversation: each, parts: say("go") });
      await expect.poll(async () => (await client.ask("question.list", {})).waiting.at(-1)?.conversation).toBe(each);
    }
    const { waiting } = await client.ask("question.list", {});
    const asked = { question: { type: "approval", pattern: "shell" }, call: { tool: "shell", input: { n: 1 } } };
    expect(waiting).toMatchObject([
      { conversation, ...asked, ofSubAgent: false, directory: "/a/workspace" },
      { conversation: other, ...asked },
    ]);
    const question = waiting[1]?.question.id ?? "";
    await client.ask("question.answer", { conversation: other, question, answer: { decision: "deny" } });
    expect((await client.ask("question.list", {})).waiting).toMatchObject([{ conversation }]);
  });

  test("F74: a server lists and counts the questions of a conversation that another process has open", async () => {
    const { shell } = asking();
    const model = scriptedModel([[call("shell", { n: 1 })], "Done."]);
    const agent = { model, tools: [shell], permission: () => ({ decision: "ask" }) as const };
    const { client, conversation, ended, directory } = await talking(agent);
    const other = await TestClient.connect((await serving(agent, { directory })).server);
    await client.ask("turn.say", { conversation, parts: say("go") });
    const { question } = await client.item("call.approval-requested");
    expect((await other.ask("question.list", {})).waiting).toMatchObject([
      { conversation, question: { id: question }, call: { tool: "shell", input: { n: 1 } } },
    ]);
    expect((await other.ask("conversation.list", {})).conversations).toMatchObject([{ id: conversation, waiting: 1 }]);
    await client.ask("question.answer", { conversation, question, answer: { decision: "deny" } });
    await ended(1);
    expect((await other.ask("question.list", {})).waiting).toEqual([]);
    expect((await other.ask("conversation.list", {})).conversations).toMatchObject([{ id: conversation, waiting: 0 }]);
  });

  test("F74: a question is listed while its conversation is being opened", async () => {
    const { shell } = asking();
    const agent = {
      model: scriptedModel([[call("shell")]]),
      tools: [shell],
      permission: () => ({ decision: "ask" }) as const,
    };
    const { client, conversation, directory, server } = await talking(agent);
    await client.ask("turn.say", { conversation, parts: say("go") });
    const { question } = await client.item("call.approval-requested");
    await server.stop();
    const { server: next, store } = await serving(agent, { directory });
    const other = await TestClient.connect(next);
    const list = store.list.bind(store);
    let opens = true;
    store.list = async (query) => {
      const listed = await list(query);
      if (opens) {
        opens = false;
        await other.watch(conversation);
      }
      return listed;
    };
    expect((await other.ask("question.list", {})).waiting).toMatchObject([
      { conversation, question: { id: question } },
    ]);
  });

  test("the host stores a call that is allowed for good", async () => {
    const { shell } = asking();
    const model = scriptedModel([[call("shell")], "Done."]);
    const { client, conversation, remembered, ended } = await talking({
      model,
      tools: [shell],
      permission: () => ({ decision: "ask", pattern: "shell" }),
    });
    await client.ask("turn.say", { conversation, parts: say("go") });
    const { question } = await client.item("call.approval-requested");
    const remember = { pattern: "shell", scope: "always" } as const;
    await client.ask("question.answer", { conversation, question, answer: { decision: "allow", remember } });
    await ended(1);
    expect(remembered).toEqual(["shell"]);
  });

  test("A10: the host also stores a call that is denied for good, and covered questions close", async () => {
    const { ran, shell } = asking();
    const model = scriptedModel([[call("shell", { n: 1 }), call("shell", { n: 2 })], "Done."]);
    const { client, conversation, remembered, ended, state } = await talking({
      model,
      tools: [shell],
      permission: () =>
        remembered.length > 0
          ? { decision: "deny", reason: "The rule forbids this." }
          : { decision: "ask", pattern: "shell" },
    });
    await client.ask("turn.say", { conversation, parts: say("go") });
    await client.until(() => state.questions.size === 2);
    const [question = ""] = state.questions.keys();
    const remember = { pattern: "shell", scope: "always" } as const;
    await client.ask("question.answer", { conversation, question, answer: { decision: "deny", remember } });
    await ended(1);
    expect([remembered, ran]).toEqual([["never shell"], []]);
    expect(JSON.stringify([...state.messages.values()])).toContain("The rule forbids this.");
  });

  test("a rule for good that cannot be stored holds in the conversation, and the answering client gets a notice", async () => {
    const { ran, shell } = asking();
    const model = scriptedModel([[call("shell", { n: 1 })], "Done.", [call("shell", { n: 2 })], "Done."]);
    const { client, conversation, host, ended } = await talking({
      model,
      tools: [shell],
      permission: ({ allowed }) =>
        allowed.includes("shell") ? { decision: "allow" } : { decision: "ask", pattern: "shell" },
    });
    host.remember = () => {
      throw new Error("The settings file is broken.");
    };
    await client.ask("turn.say", { conversation, parts: say("go") });
    const { question } = await client.item("call.approval-requested");
    const remember = { pattern: "shell", scope: "always" } as const;
    const answered = await client.ask("question.answer", {
      conversation,
      question,
      answer: { decision: "allow", remember },
    });
    expect(answered).toEqual({ problem: "The settings file is broken." });
    await ended(1);
    await client.ask("turn.say", { conversation, parts: say("again") });
    await ended(2);
    expect(ran).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test("T12: another approval answers the open questions that it covers, and no others", async () => {
    const { ran, shell } = asking();
    const model = scriptedModel([[call("shell", { n: 1 }), call("shell", { n: 2 })], "Done."]);
    let isFree = false;
    const { client, conversation, ended, state } = await talking({
      model,
      tools: [shell],
      permission: ({ input }) =>
        isFree && (input as { n: number }).n === 1 ? { decision: "allow" } : { decision: "ask" },
    });
    await client.ask("turn.say", { conversation, parts: say("go") });
    await client.until(() => state.questions.size === 2);
    isFree = true;
    await client.ask("approval.use", { mode: "edits" });
    await client.until(() => ran.length === 1 && state.questions.size === 1);
    expect(ran).toEqual([{ n: 1 }]);
    const [question = ""] = state.questions.keys();
    await client.ask("question.answer", { conversation, question, answer: { decision: "deny" } });
    await ended(1);
    expect(ran).toEqual([{ n: 1 }]);
  });

  test("B40: a question in words is answered in words", async () => {
    const asks = defineTool({
      name: "asks",
      description: "",
      input: { type: "object" },
      effects: "none",
      execute: (_input: unknown, { ask }) => ask({ text: "Which colour?", choices: ["red", "blue"] }),
    });
    const { client, conversation, remembered, ended, state } = await talking({
      model: scriptedModel([[call("asks")], "Done."]),
      tools: [asks],
    });
    await client.ask("turn.say", { conversation, parts: say("go") });
    const { question } = await client.item("question.asked");
    expect([...state.questions.values()]).toMatchObject([
      { type: "text", text: "Which colour?", choices: ["red", "blue"] },
    ]);
    const remember = { pattern: "asks", scope: "always" } as const;
    for (const wrong of [{ decision: "allow" }, { decision: "deny", remember }] as const) {
      const answered = client.ask("question.answer", { conversation, question, answer: wrong });
      await expect(answered).rejects.toMatchObject({ code: "invalid" });
    }
    expect(remembered).toEqual([]);
    await client.ask("question.answer", { conversation, question, answer: { decision: "answer", text: "blue" } });
    await ended(1);
    expect(await client.item("call.completed")).toMatchObject({ output: "blue" });
  });
});

test("B64: a turn at a limit waits for a person, and is counted as waiting", async () => {
  const look = defineTool({
    name: "look",
    description: "",
    input: { type: "object" },
    effects: "none",
    execute: () => "seen",
  });
  const model = scriptedModel((_request, index) => (index < 2 ? [call("look")] : "Done."));
  const limits = { steps: 1, policy: "ask" } as const;
  const { client, conversation, ended } = await talking({ model, tools: [look], limits });
  await client.ask("turn.say", { conversation, parts: say("go") });
  const { question } = await client.item("run.paused");
  expect(await client.ask("conversation.list", {})).toMatchObject({ conversations: [{ running: 1, waiting: 1 }] });
  expect(await client.ask("question.list", {})).toEqual({
    waiting: [
      {
        conversation,
        question: {
          type: "limit",
          id: question,
          run: expect.any(String),
          message: expect.any(String),
          reason: expect.any(String),
        },
        ofSubAgent: false,
        directory: "/a/workspace",
      },
    ],
  });
  const words = client.ask("question.answer", { conversation, question, answer: { decision: "answer", text: "yes" } });
  await expect(words).rejects.toMatchObject({ code: "invalid" });
  await client.ask("question.answer", { conversation, question, answer: { decision: "deny" } });
  await ended(1);
  expect(await client.item("run.ended")).toMatchObject({ reason: "limit" });
});
