import { describe, expect, test } from "vitest";
import { z } from "zod";
import { isEvent } from "../../conversation/feed-item.ts";
import { textOf } from "../../conversation/message.ts";
import { pathTo } from "../../conversation/tree/path.ts";
import { defineTool } from "../../ports/define-tool.ts";
import { Session } from "../../session/session.ts";
import { checkConversation } from "../../testing/check-conversation.ts";
import { collect, readUntil } from "../../testing/collect.ts";
import { call, type Script, scriptedModel, text } from "../../testing/scripted-model.ts";
import { Agent, type AgentOptions } from "../agent.ts";
import { say } from "../directive.ts";

const act = defineTool({
  name: "act",
  description: "Acts.",
  input: { type: "object" },
  effects: "none",
  execute: () => "done",
});

function task(script: Script, options: Partial<AgentOptions> = {}) {
  const session = Session.inMemory();
  const model = scriptedModel(script);
  return { session, model, agent: new Agent({ model, tools: [act], mode: "task", ...options }) };
}

describe("chat mode", () => {
  test.each<[string, Script, number]>([
    ["[text]", ["hello"], 1],
    ["[calls, text]", [[call("act")], "hello"], 2],
    ["[text + calls]", [[text("wait"), call("act")], "hello"], 2],
  ])("B37: %s gives control back once, after exactly its model calls", async (_, script, asked) => {
    const model = scriptedModel(script);
    let turns = 0;
    const agent = new Agent({ model, tools: [act], onTurn: () => void turns++ });
    await collect(agent.chat(say("Hi")));
    expect([model.asked, turns]).toEqual([asked, 1]);
  });

  test("B38: there is neither finish_task nor ask_client", async () => {
    const model = scriptedModel(["ok"]);
    await new Agent({ model, tools: [act] }).send("Hi");
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(["act"]);
    expect(model.requests[0]?.instructions).toBe("");
  });
});

describe("task mode", () => {
  test("B39: the turn ends with finish_task, after the other calls of its step", async () => {
    const { agent, session } = task([[call("finish_task", { result: "42", summary: "counted" }), call("act")]]);
    const turn = await agent.send("Count.", { session });
    expect(turn).toMatchObject({ reason: "finished", text: "42", result: "42", steps: 1 });
    expect(turn.message?.calls.map(({ tool, status }) => `${tool} ${status}`)).toEqual([
      "finish_task completed",
      "act completed",
    ]);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("B39: an answer without calls is corrected, in the same turn", async () => {
    const { agent, session } = task(["I think it is 42.", [call("finish_task", { result: "42" })]]);
    const turn = await agent.send("Count.", { session });
    expect(turn.reason).toBe("finished");
    const correction = pathTo(session.state, session.state.leaf)[2];
    expect(correction).toMatchObject({ role: "user", author: "system" });
    expect(correction && textOf(correction)).toMatch(/You called no tool.*finish_task/);
  });

  test("B39: the first request of a task names its end, after the agent's own instructions", async () => {
    const { agent, model } = task([[call("finish_task", { result: "" })]], { instructions: "Be brief." });
    await agent.send("Go");
    expect(model.requests[0]?.instructions).toMatch(/^Be brief\.\n\nYou work on a task alone/);
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(["act", "finish_task", "ask_client"]);
  });

  test("B13: a task without an end stops at its limit with a last text", async () => {
    const { agent } = task((_, index) => (index < 3 ? "still thinking" : "that is all I have"), {
      limits: { steps: 3 },
    });
    const turn = await agent.send("Go");
    expect(turn).toMatchObject({ reason: "limit", text: "that is all I have", steps: 3 });
  });

  test("B32: a message whose listener failed does not finish the task", async () => {
    const listen = defineTool({
      name: "listen",
      description: "Listens.",
      input: { type: "object" },
      effects: "none",
      execute: (_: unknown, context) => context.follow({ completed: () => ({ say: "None applied.", failed: true }) }),
    });
    const finish = call("finish_task", { result: "done" });
    const { agent, session } = task([[call("listen")], [text("blocks"), finish], [finish]], { tools: [listen] });
    const turn = await agent.send("Go", { session });
    expect(turn).toMatchObject({ reason: "finished", steps: 3 });
    const outputs = pathTo(session.state, session.state.leaf).flatMap((message) =>
      message.role === "assistant" ? message.calls.filter(({ tool }) => tool === "finish_task") : [],
    );
    expect(outputs.map(({ status }) => status)).toEqual(["failed", "completed"]);
    expect(outputs[0]?.output).toMatch(/Not finished/);
  });

  test("B39: ask_client asks a user, and any client may answer", async () => {
    const { agent, session } = task((request) => {
      const said = request.messages.at(-1);
      const answer = said?.role === "assistant" ? said.results[0]?.output : undefined;
      return answer ? [call("finish_task", { result: answer })] : [call("ask_client", { question: "Which one?" })];
    });
    const chat = agent.chat(say("Go"), { session })[Symbol.asyncIterator]();
    const asked = await readUntil(chat, (item) => item.type === "question.asked");
    if (asked.type !== "question.asked") throw new Error("no question");
    expect([...session.state.questions.values()]).toMatchObject([{ type: "text", text: "Which one?" }]);
    await expect(session.answer(asked.question, { decision: "allow" })).rejects.toThrow(/"answer" or "deny"/);
    await session.answer(asked.question, { decision: "answer", text: "the red one" });
    const ended = await readUntil(chat, (item) => item.type === "run.ended");
    expect(ended).toMatchObject({ reason: "finished" });
    expect(session.state.questions.size).toBe(0);
    await readUntil(chat, (item) => item.type === "chat.ended");
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("B39: ask_client returns its default without a user, and fails without a default", async () => {
    const { agent, session } = task(
      [
        [
          call("ask_client", { question: "Which?", default_answer: "blue" }),
          call("ask_client", { question: "Which?" }),
        ],
        [call("finish_task", { result: "ok" })],
      ],
      { unattended: true },
    );
    await agent.send("Go", { session });
    const calls = pathTo(session.state, session.state.leaf).flatMap((m) => (m.role === "assistant" ? m.calls : []));
    expect(calls.slice(0, 2).map(({ status, output }) => [status, output])).toEqual([
      ["completed", "blue"],
      [
        "failed",
        "The tool failed: No user can be asked here, and the question has no default answer. Decide yourself.",
      ],
    ]);
  });

  test("with an output schema that refers to its own parts, checks the result", async () => {
    const output = {
      ...({ type: "object", required: ["value"], additionalProperties: false } as const),
      properties: { value: { $ref: "#/$defs/count" }, next: { $ref: "#" } },
      $defs: { count: { type: "integer" } },
    };
    const right = { value: 1, next: { value: 2 } };
    const scenes = [{ value: 1, next: { value: "two" } }, right].map((result) => [call("finish_task", { result })]);
    expect((await task(scenes, { output }).agent.send("Count.")).result).toEqual(right);
  });

  test("B44: a result must match its schema; another result is requested once more", async () => {
    const output = {
      type: "object",
      properties: { count: { type: "integer" } },
      required: ["count"],
      additionalProperties: false,
    } as const;
    const wrong = call("finish_task", { result: { count: "many" } });
    const repaired = task([[wrong], [call("finish_task", { result: { count: 3 } })]], { output });
    expect(await repaired.agent.send("Count.")).toMatchObject({
      reason: "finished",
      result: { count: 3 },
      text: '{"count":3}',
    });
    const { agent } = task([[wrong], [wrong], "never asked"], { output });
    await expect(agent.send("Count.")).rejects.toMatchObject({ code: "output" });
  });

  test("B44: the whole Standard Schema is checked, also where its JSON Schema cannot express a rule", async () => {
    const output = z.object({ count: z.number().refine((count) => count % 2 === 0, "an odd number") });
    const result = (count: number) => [call("finish_task", { result: { count } })];
    const { agent, session } = task([result(3), result(4)], { output });
    expect((await agent.send("Count.", { session })).result).toEqual({ count: 4 });
    const calls = pathTo(session.state, session.state.leaf).flatMap((m) => (m.role === "assistant" ? m.calls : []));
    expect(calls[0]?.output).toBe("The tool failed: the result does not fit: at count: an odd number.");
    const never = task([result(3), result(5), "never asked"], { output });
    await expect(never.agent.send("Count.")).rejects.toMatchObject({ code: "output" });
  });

  test("B39: no call waits without a user: the call is denied, and a limit ends the turn", async () => {
    const { agent, session } = task([[call("act")], [call("act")], "As far as I came."], {
      unattended: true,
      permission: ({ tool }) => ({ decision: tool.name === "act" ? "ask" : "allow" }),
      limits: { steps: 2, policy: "ask" },
    });
    expect(await agent.send("Go", { session })).toMatchObject({ reason: "limit", text: "As far as I came." });
    const calls = pathTo(session.state, session.state.leaf).flatMap((m) => (m.role === "assistant" ? m.calls : []));
    expect(calls.map(({ status, output }) => [status, output])).toEqual(
      Array(2).fill(["denied", "Not allowed: this call needs a user's approval, and no user can be asked here."]),
    );
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("B40: one agent works in both modes along one conversation", async () => {
    const session = Session.inMemory();
    const model = scriptedModel(["hello", [call("finish_task", { result: "built" })], "you are welcome"]);
    const agent = new Agent({ model, tools: [act] });
    expect((await agent.send("Hi", { session })).reason).toBe("answered");
    expect((await agent.with({ mode: "task" }).send("Build it.", { session })).text).toBe("built");
    expect((await agent.send("Thanks", { session })).text).toBe("you are welcome");
    const modes = model.requests.map(({ instructions }) => instructions.includes("finish_task"));
    expect(modes).toEqual([false, true, false]);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("finish_task of an earlier task is no way to end a chat", async () => {
    const finish = defineTool({
      name: "finish",
      description: "Finishes.",
      input: { type: "object" },
      effects: "none",
      execute: (_: unknown, context) => context.finish("x"),
    });
    const session = Session.inMemory();
    const agent = new Agent({ model: scriptedModel([[call("finish")], "ok"]), tools: [finish] });
    const items = await collect(agent.chat(say("Hi"), { session }));
    expect(items.filter(isEvent).find(({ type }) => type === "call.failed")).toMatchObject({
      output: "The tool failed: There is no task to finish: this is a conversation. Just answer.",
    });
  });
});
