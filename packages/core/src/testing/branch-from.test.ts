import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { handOff } from "../agent/control/hand-off.ts";
import type { AssistantMessage } from "../conversation/message.ts";
import { textOf } from "../conversation/message.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { defineTool } from "../ports/define-tool.ts";
import { SlowStore } from "../session/session.fixture.ts";
import { Session } from "../session/session.ts";
import { branchFrom, call, checkConversation, fail, finishTask, reasoning, scriptedModel, text } from "./index.ts";

let executions = 0;
const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  effects: "none",
  execute: () => `seen ${++executions}`,
});

const model = scriptedModel(
  [[text("I look."), call("look", { at: "a" })], [call("look", { at: "b" })], "A fig tree."],
  {
    id: "scripted/one",
  },
);
/** The third step has no tools. */
const toolsFor = ({ step }: { readonly step: number }) => (step === 3 ? [] : undefined);
const agent = new Agent({ model, tools: [look], instructions: "Be brief.", toolsFor });

function responsesOf({ state }: Session): readonly AssistantMessage[] {
  return pathTo(state, state.leaf).filter((message) => message.role === "assistant");
}

test("L7: branchFrom asks another model the question of one step, next to the logged response", async () => {
  const store = new SlowStore();
  const first = await Session.open(store);
  await agent.send("What is there?", { session: first });
  const requests = model.requests.slice(-3);
  await first.close();
  const before = executions;

  const session = await Session.open(store, first.id);
  const steps = responsesOf(session);
  const script = [[reasoning("Hm."), call("look", { at: "c" })], [call("look", { at: "c" })], [text("A tree.")]];
  const other = scriptedModel(script, { id: "scripted/other" });
  for (const [index, step] of steps.entries()) {
    const made = await branchFrom(step, { session, agent, model: other });
    expect(made).toMatchObject({ parentId: step.parentId, model: "scripted/other" });
    expect(other.requests[index]).toEqual(requests[index]);
    expect(made.calls.map(({ tool, input, status }) => [tool, input, status])).toEqual(
      index < 2 ? [["look", { at: "c" }, "denied"]] : [],
    );
    expect(textOf(made)).toBe(index < 2 ? "" : "A tree.");
    expect(session.state.leaf).toBe(made.id);
    expect(session.state.messages.get(step.id)).toEqual(step);
  }
  expect([other.asked, executions]).toEqual([3, before]);
  expect(checkConversation(session.state)).toEqual([]);
  await session.close();
});

test("L7: branchFrom repeats a step with a changed agent, without its handlers", async () => {
  const heard: string[] = [];
  const full = new Agent({
    model: scriptedModel([[call("look")], "No.", [text("Yes."), call("look")]]),
    tools: [look],
    memory: {
      store: { recall: () => Promise.resolve([]), remember: () => Promise.resolve(void heard.push("remembered")) },
    },
    hooks: {
      beforeCall: () => {
        heard.push("hook");
      },
    },
    onTurn: () => {
      heard.push("turn");
    },
    callbacks: { onAnswer: ({ id }) => heard.push(id) },
  });
  const session = Session.inMemory();
  await full.send("Sure?", { session });
  const [step] = responsesOf(session);
  heard.length = 0;
  const other = await branchFrom(step as AssistantMessage, { session, agent: full.with({ instructions: "Agree." }) });
  expect([textOf(other), other.calls.length, other.parentId, heard]).toEqual(["Yes.", 1, step?.parentId, []]);
});

test("L7: branchFrom returns a response that misses the schema of the agent's result, and of a task", async () => {
  const output = { type: "object", properties: { a: { type: "number" } }, required: ["a"] } as const;
  const typed = new Agent({ model: scriptedModel(['{"a":1}']), output });
  const session = Session.inMemory();
  const { message } = await typed.send("Count.", { session });
  const other = await branchFrom(message, { session, agent: typed, model: scriptedModel(["One."]) });
  expect([textOf(other), other.parentId]).toEqual(["One.", message?.parentId]);

  const task = typed.with({ mode: "task", model: scriptedModel([[finishTask({ a: 1 })]]) });
  const { message: finished } = await task.send("Count.", { session });
  const again = await branchFrom(finished, { session, agent: task, model: scriptedModel([[finishTask({ a: 2 })]]) });
  expect(again).toMatchObject({ parentId: finished?.parentId, calls: [{ input: { result: { a: 2 } } }] });
});

test.each([1, 2])("L7: the last message is the response of branchFrom, with %i results allowed", async (results) => {
  const output = { type: "object", properties: { a: { type: "number" } }, required: ["a"] } as const;
  for (const mode of ["chat", "task"] as const) {
    const script = mode === "chat" ? ['{"a":1}'] : [[finishTask({ a: 1 })]];
    const typed = new Agent({ model: scriptedModel(script), output, mode, retry: { results } });
    const session = Session.inMemory();
    const { message } = await typed.send("Count.", { session });
    const model = scriptedModel([mode === "chat" ? "One." : [finishTask("One.")]]);
    const other = await branchFrom(message, { session, agent: typed, model });
    expect([session.state.leaf, model.asked]).toEqual([other.id, 1]);
  }
});

test("L7: after a hand-off, branchFrom repeats a step of the other agent, whose tools do not run", async () => {
  const before = executions;
  const script = ["A poem.", [call("look")], "Seen."];
  const writer = new Agent({ name: "writer", description: "Writes.", model: scriptedModel(script), tools: [look] });
  const desk = new Agent({ model: scriptedModel([[call("hand_off_to_writer")]]), tools: [handOff(writer)] });
  const session = Session.inMemory();
  const { message } = await desk.send("Write.", { session });
  const model = scriptedModel([[call("look")]]);
  const other = await branchFrom(message, { session, agent: desk, model });
  expect(other).toMatchObject({ parentId: message?.parentId, calls: [{ tool: "look", status: "denied" }] });
  expect([model.asked, executions]).toEqual([1, before]);
});

test("L7: branchFrom rejects if the model fails, and refuses a message that is no step", async () => {
  const session = Session.inMemory();
  await new Agent({ model: scriptedModel(["No."]) }).send("Sure?", { session });
  const [step] = responsesOf(session) as [AssistantMessage];
  const failing = branchFrom(step, { session, agent, model: scriptedModel([[fail("authentication")]]) });
  await expect(failing).rejects.toMatchObject({ name: "TurnError", code: "authentication" });

  const question = session.state.messages.get(step.parentId as string) as AssistantMessage;
  const loop = { id: "loop/x", family: "x", run: () => Promise.resolve() };
  const wrong: readonly [unknown, unknown, string][] = [
    [step, { session, agent, modle: model }, "modle is no option of branchFrom; did you mean model?"],
    [step, { agent }, "branchFrom needs a session: pass { session, agent }."],
    [step, { session }, "branchFrom needs an agent: pass { session, agent }."],
    [step, { session, agent, model: loop }, "branchFrom cannot use a driver that runs whole turns"],
    [undefined, { session, agent }, "branchFrom needs a response of the session; the session has no such message."],
    [{ ...step, id: "x" }, { session, agent }, "the session has no such message."],
    [question, { session, agent }, `branchFrom needs a response of a model; ${question.id} is a user message.`],
  ];
  for (const [given, options, sentence] of wrong)
    await expect(branchFrom(given as AssistantMessage, options as never)).rejects.toMatchObject({
      name: "OptionError",
      message: expect.stringContaining(sentence),
    });
});
