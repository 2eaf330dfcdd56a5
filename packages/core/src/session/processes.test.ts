import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { textOf } from "../conversation/message.ts";
import type { OpenQuestion } from "../conversation/state.ts";
import { askingRuns } from "../conversation/tree/asking-run.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { BackgroundWorkEnd } from "../ports/tool-values.ts";
import { call, checkConversation, scriptedModel } from "../testing/index.ts";
import { SlowStore } from "./session.fixture.ts";
import { Session } from "./session.ts";

/** Starts a background process, and returns a function that ends it. */
function starting() {
  const ends: ((until: BackgroundWorkEnd) => void)[] = [];
  const tool = defineTool({
    name: "start",
    description: "",
    input: { type: "object" },
    effects: "external",
    execute(_, { stay }) {
      const { promise, resolve } = Promise.withResolvers<BackgroundWorkEnd>();
      ends.push(resolve);
      return stay({ title: "a server", over: promise, end: () => resolve({ outcome: "it was asked to" }) });
    },
  });
  return { tool, ends };
}

const STARTS = [call("start")];
const told = (requests: readonly { readonly messages: readonly object[] }[], at: number) =>
  JSON.stringify(requests[at]?.messages).match(/p\d \(a server\) has ended: [^"]*/g) ?? [];
const settled = (session: Session, process: string) =>
  expect.poll(() => session.state.processes.get(process)?.outcome).toBeDefined();

test("C6: a turn ends although a process runs; the model learns of its end with the next turn, once, on its branch", async () => {
  const { tool, ends } = starting();
  const model = scriptedModel(["Hello.", STARTS, "It runs.", "Elsewhere.", "I see.", "Yes."]);
  const agent = new Agent({ model, tools: [tool] });
  const session = Session.inMemory();
  const hello = await agent.send("Hello", { session });
  const begun = await agent.send("Start it", { session });
  expect(begun.message?.parts).toEqual([{ type: "text", text: "It runs." }]);
  expect(session.state.processes.get("p1")).toMatchObject({ title: "a server" });
  expect(session.state.processes.get("p1")).not.toHaveProperty("outcome");
  ends[0]?.({ outcome: "exit code 1" });
  await settled(session, "p1");
  await agent.send("And elsewhere?", { session, at: hello.message?.id as string });
  expect(told(model.requests, 3)).toEqual([]);
  await agent.send("How is it?", { session, at: begun.message?.id as string });
  expect(told(model.requests, 4)).toEqual(["p1 (a server) has ended: exit code 1."]);
  await agent.send("Again?", { session });
  expect(told(model.requests, 5)).toEqual(["p1 (a server) has ended: exit code 1."]);
  const path = pathTo(session.state, session.state.leaf);
  expect(path.filter((message) => message.role === "user" && message.author === "system").map(textOf)).toEqual([
    "p1 (a server) has ended: exit code 1.",
  ]);
  expect(session.state.processes.size).toBe(0);
  expect(checkConversation(session.state)).toEqual([]);
});

test("C6: the model gets no known report again, and a name is not given twice", async () => {
  const { tool, ends } = starting();
  const model = scriptedModel([STARTS, "It runs.", STARTS, "Another one.", "Yes."]);
  const agent = new Agent({ model, tools: [tool] });
  const session = Session.inMemory();
  await agent.send("Start it", { session });
  ends[0]?.({ outcome: "it was stopped", known: true });
  await expect.poll(() => session.state.processes.size).toBe(0);
  await agent.send("Start another", { session });
  expect([...session.state.processes.keys()]).toEqual(["p2"]);
  expect(told(model.requests, 2)).toEqual([]);
  await session.close();
});

test("C6: a user stops a process, and the model learns who did; a process that does not run is unknown", async () => {
  const { tool } = starting();
  const model = scriptedModel([STARTS, "It runs.", "I see."]);
  const agent = new Agent({ model, tools: [tool] });
  const session = Session.inMemory();
  await agent.send("Start it", { session });
  for (const name of ["p2", "", "__proto__", "p1 "])
    await expect(session.processes.stop(name)).rejects.toMatchObject({ code: "no-process" });
  await session.processes.stop("p1");
  await expect(session.processes.stop("p1")).rejects.toMatchObject({ code: "no-process" });
  await agent.send("How is it?", { session });
  expect(told(model.requests, 2)).toEqual(["p1 (a server) has ended: a user stopped it."]);
});

test("C6, F17: after a kill of the program, no process counts as running, and the model learns so", async () => {
  const { tool } = starting();
  const store = new SlowStore();
  const killed = await Session.open(store);
  await new Agent({ model: scriptedModel([STARTS, "It runs."]), tools: [tool] }).send("Start it", { session: killed });
  const session = await Session.open(store, killed.id);
  expect(session.state.processes.get("p1")?.outcome).toBe("the program that started the process stopped");
  const model = scriptedModel(["I see."]);
  await new Agent({ model, tools: [tool] }).send("How is it?", { session });
  expect(told(model.requests, 0)).toEqual(["p1 (a server) has ended: the program that started the process stopped."]);
  expect(checkConversation(session.state)).toEqual([]);
});

test("C6, F7: remaining processes end if the store refuses a write, and when the session closes", async () => {
  const { tool } = starting();
  const store = new SlowStore();
  const session = await Session.open(store);
  const agent = new Agent({ model: scriptedModel([STARTS, "It runs."]), tools: [tool] });
  await agent.send("Start it", { session });
  let ended = 0;
  const { promise, resolve } = Promise.withResolvers<BackgroundWorkEnd>();
  const end = () => {
    ended += 1;
    resolve({ outcome: "it was asked to" });
  };
  const at = { message: "m", call: "c" };
  await session.processes.stay(at, { title: "another", over: promise, end });
  store.failAt = 0;
  await expect(session.notes.rename("x")).rejects.toMatchObject({ code: "broken" });
  expect(ended).toBe(1);
  await session.close();
  await expect(session.processes.stay(at, { title: "late", over: promise, end })).rejects.toMatchObject({
    name: "SessionError",
  });
  expect(ended).toBeGreaterThan(1);
});

/** Starts a background process that asks a user when `asks` is called, also after its turn. */
function asking() {
  const end = Promise.withResolvers<BackgroundWorkEnd>();
  const life = new AbortController();
  const work = { title: "a server", rename: async (_: string) => {}, asks: async () => "" };
  const tool = defineTool({
    name: "start",
    description: "",
    input: { type: "object" },
    effects: "external",
    execute(_, { stay, ask }) {
      work.asks = () => ask({ text: "Open it?", choices: ["Yes", "No"], default: "No" }, life.signal);
      return stay({
        get title() {
          return work.title;
        },
        over: end.promise,
        end: () => end.resolve({ outcome: "it was asked to" }),
        stays(renamed) {
          work.rename = (title) => {
            work.title = title;
            return renamed();
          };
        },
      });
    },
  });
  return { tool, work, life, end: () => end.resolve({ outcome: "exit code 0" }) };
}

test("C6: a background process asks a user after its turn, and gets a new title without a new name", async () => {
  const { tool, work } = asking();
  const session = Session.inMemory();
  await new Agent({ model: scriptedModel([STARTS, "It runs."]), tools: [tool] }).send("Start it", { session });
  const answer = work.asks();
  await expect.poll(() => session.openQuestions).toHaveLength(1);
  const [question] = session.openQuestions;
  expect(question).toMatchObject({ type: "text", text: "Open it?" });
  expect(askingRuns(session.state, question as OpenQuestion)).toEqual([]);
  await session.answer(question?.id ?? "", { decision: "answer", text: "Yes" });
  expect(await answer).toBe("Yes");
  await work.rename("a server (open)");
  expect(session.state.processes.get("p1")).toMatchObject({ title: "a server (open)" });
  expect(session.state.processesBegun).toBe(1);
  expect(checkConversation(session.state)).toEqual([]);
});

test("C6: the question of a background process closes with the process, and a title does not bring back the process", async () => {
  const { tool, work, life, end } = asking();
  const session = Session.inMemory();
  await new Agent({ model: scriptedModel([STARTS, "It runs."]), tools: [tool] }).send("Start it", { session });
  const answer = work.asks();
  await expect.poll(() => session.openQuestions).toHaveLength(1);
  end();
  life.abort(new Error("it ended"));
  await expect(answer).rejects.toThrow("it ended");
  await expect.poll(() => session.openQuestions).toEqual([]);
  await settled(session, "p1");
  await work.rename("a ghost");
  expect(session.state.processes.get("p1")).toMatchObject({ title: "a server", outcome: "exit code 0" });
});

test("C6: the question of a background process whose program was killed is withdrawn when the conversation opens", async () => {
  const { tool, work } = asking();
  const store = new SlowStore();
  const killed = await Session.open(store);
  await new Agent({ model: scriptedModel([STARTS, "It runs."]), tools: [tool] }).send("Start it", { session: killed });
  work.asks().catch(() => {});
  await expect.poll(() => killed.openQuestions).toHaveLength(1);
  const session = await Session.open(store, killed.id);
  expect(session.openQuestions).toEqual([]);
  expect(session.state.waiting.size).toBe(0);
});

test("C6: where no user can be asked, a background process gets the default", async () => {
  const { tool, work } = asking();
  const session = Session.inMemory();
  const model = scriptedModel([STARTS, "It runs."]);
  await new Agent({ model, tools: [tool], unattended: true }).send("Start it", { session });
  expect(await work.asks()).toBe("No");
});
