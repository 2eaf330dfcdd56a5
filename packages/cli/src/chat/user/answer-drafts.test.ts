import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Agent, defineTool, Session, say, UnfitAnswerError } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Opened } from "../../terminal/full/testing/opened.ts";
import { Approvals } from "./approvals.ts";
import { UnsentTexts } from "./unsent-texts.ts";

const [ENTER, ESC, CTRL_C, CTRL_U, UP] = ["\r", "\x1b", "\x03", "\x15", "\x1b[A"];

let folder: string;
let stack: DisposableStack;
beforeEach(() => {
  // Questions accept keys after a pause.
  vi.useFakeTimers({ toFake: ["performance"] });
  folder = mkdtempSync(join(tmpdir(), "banyan-answering-"));
  stack = new DisposableStack();
});
afterEach(() => {
  stack.dispose();
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

const files = () => readdirSync(folder);
const unsentAt = (place: string) =>
  new UnsentTexts(folder, place, (error) => {
    throw error;
  });

/** A user at a terminal with questions of calls. */
function person() {
  const here = stack.use(new Opened());
  const unsent = unsentAt("/somewhere");
  const host = { agent: "banyan", workspace: "/work" };
  const { terminal } = here;
  const approvals = new Approvals(terminal, terminal.view, host, unsent);
  // Ctrl-C on an empty prompt would leave, because no turn runs.
  void terminal.read({ prompt: "Reply: " });
  return { here, unsent, approvals };
}

const ASKS = defineTool({
  name: "paint",
  description: "",
  input: { type: "object" },
  effects: "none",
  execute: (_, { ask }) => ask({ text: "Which colour?", default: "blue" }),
});
const RUNS = defineTool({
  name: "run",
  description: "",
  input: { type: "object" },
  effects: "external",
  execute: async () => "done",
});

/** A conversation with a call that asks the user. */
async function asking(tool: typeof ASKS | typeof RUNS) {
  const session = Session.inMemory();
  stack.defer(() => void session.close());
  const permission = () => ({ decision: tool === RUNS ? "ask" : "allow" }) as const;
  const model = scriptedModel([[call(tool.name, { what: "it" }, "a call")], "Done."]);
  const chat = new Agent({ model, tools: [tool], permission }).chat(say("Go"), { session });
  const asked = Promise.withResolvers<string>();
  const ended = (async () => {
    for await (const item of chat) {
      if (item.type === "call.approval-requested" || item.type === "question.asked") asked.resolve(item.question);
    }
  })();
  return { session, question: await asked.promise, ended };
}

/** Replaces the initial text of an answer by typed keys. */
async function beginsToAnswer(here: Opened, ...keys: readonly string[]): Promise<void> {
  await here.screen.until("Your answer:");
  await here.quiet();
  here.keys(ENTER, CTRL_U, ...keys);
}

/** Waits for the question, and types the beginning of a reason for a denial. */
async function beginsToDeny(here: Opened): Promise<void> {
  await here.screen.until("Allow this?");
  await here.quiet();
  here.keys("n", ENTER);
  await here.screen.until("Reason (optional):");
  here.keys("it is ");
  await here.screen.until("Reason (optional): it is");
}

/** Resolves with true if an unfinished text went into the history. */
async function isPutAside(here: Opened): Promise<boolean> {
  here.terminal.write("the end\n");
  await here.screen.until("the end");
  return here.screen.lines.join("\n").includes("Not sent");
}

function outcome(session: Session) {
  const [, answer] = [...session.state.messages.values()];
  return answer?.role === "assistant" ? answer.calls[0] : undefined;
}

describe("T19: an answer that is being written", () => {
  test("is in a file as it is typed, is not a message, and is there when the same call asks the same again", async () => {
    const { session, question } = await asking(ASKS);
    const first = person();
    const given = first.approvals.ask(session, question);
    await beginsToAnswer(first.here, "green or r");
    await first.here.screen.until("green or r");
    expect(files()).toHaveLength(1);
    first.here.terminal.close();
    await given;
    first.unsent.close();

    const second = person();
    second.unsent.moveTo(session.id);
    expect(second.unsent.takeOver()).toBe("");
    void second.approvals.ask(session, question);
    await second.here.screen.until(/─ Your answer: ─+\n *green or r/);
    await second.here.quiet();
    second.here.keys(ENTER, "ed", ENTER);
    await expect.poll(() => outcome(session)?.output).toBe("green or red");
    await expect.poll(files).toEqual([]);
    expect(await isPutAside(second.here)).toBe(false);
  });

  test("is not for another call, for another thing that the same call asks, nor for another conversation", () => {
    const one = unsentAt("a conversation");
    one.answering("a conversation", { call: "a call", what: "Which colour?" }).draft("green");
    one.close();
    const next = unsentAt("a conversation");
    expect(next.answering("a conversation", { call: "another", what: "Which colour?" }).text).toBe("");
    expect(next.answering("a conversation", { call: "a call", what: "How much?" }).text).toBe("");
    expect(next.answering("another", { call: "a call", what: "Which colour?" }).text).toBe("");
    expect(next.answering("a conversation", { call: "a call", what: "Which colour?" }).text).toBe("green");
    expect(next.answering("a conversation", { call: "a call", what: "Which colour?" }).text).toBe("");
  });

  test("stays with its conversation when the person goes to another", async () => {
    const one = unsentAt("a conversation");
    one.draft("a message");
    const answer = one.answering("a conversation", { call: "a call", what: "Which colour?" });
    answer.draft("green");
    one.moveTo("another");
    one.close();
    const next = unsentAt("another");
    expect(next.takeOver()).toBe("a message");
    expect(next.leftAnswers("another")).toEqual([]);
    expect(next.leftAnswers("a conversation")).toMatchObject([{ text: "green", asked: { call: "a call" } }]);
  });

  test("moves to the history when another client answers meanwhile", async () => {
    const { session, question } = await asking(ASKS);
    const { here, approvals } = person();
    void approvals.ask(session, question);
    await beginsToAnswer(here, "green or r");
    await here.screen.until("green or r");
    await session.answer(question, { decision: "answer", text: "black" });
    await here.screen.until("Your answer was not sent. It is in the input history: green or r");
    expect(outcome(session)?.output).toBe("black");
    here.keys(UP);
    await here.screen.until(/─ Reply: ─+\n *green or r/);
    expect(here.interrupts).toBe(0);
    expect(files()).toEqual([]);
  });

  test("is kept until it is in the log, and goes into the history when another answer was first", async () => {
    const { session, question } = await asking(ASKS);
    const { here, approvals } = person();
    const answered = Promise.withResolvers<void>();
    const { state } = session;
    const listen = session.listen.bind(session);
    const given = approvals.ask({ state, listen, answer: () => answered.promise }, question);
    await beginsToAnswer(here, "green", ENTER);
    await here.screen.until("Reply:");
    expect(files()).toHaveLength(1);
    await session.answer(question, { decision: "answer", text: "black" });
    answered.reject(new Error("It was answered."));
    await given;
    await here.screen.until("Your answer was not sent. It is in the input history: green");
    expect(here.screen.lines.join("\n")).not.toContain("Not answered");
    expect(files()).toEqual([]);
  });

  test("is asked for again, with what was written, when it was not taken and the question still waits", async () => {
    const { session, question, ended } = await asking(ASKS);
    const { here, approvals } = person();
    const { state } = session;
    const listen = session.listen.bind(session);
    const answers = [() => Promise.reject(new Error("Not\nnow.")), session.answer.bind(session)];
    const answer = (...given: Parameters<Session["answer"]>) => answers.shift()?.(...given) ?? Promise.resolve();
    void approvals.ask({ state, listen, answer }, question);
    await beginsToAnswer(here, "green", ENTER);
    await here.screen.until(/Not answered: .*Not now\./);
    await here.screen.until(/─ Your answer: ─+\n *green/);
    await here.quiet();
    here.keys(ENTER, "ish", ENTER);
    await ended;
    expect(outcome(session)?.output).toBe("greenish");
    await expect.poll(files).toEqual([]);
    expect(await isPutAside(here)).toBe(false);
  });

  test("a refused answer is distinguished from a defect such as a TypeError", async () => {
    const { session, question, ended } = await asking(ASKS);
    const { here, approvals } = person();
    const { state } = session;
    const listen = session.listen.bind(session);
    const refusals = [new UnfitAnswerError("Too short."), new TypeError("x is not a function")];
    const answer = async (...given: Parameters<Session["answer"]>) => {
      const refusal = refusals.shift();
      if (refusal) throw refusal;
      await session.answer(...given);
    };
    void approvals.ask({ state, listen, answer }, question);
    await beginsToAnswer(here, "green", ENTER);
    await here.screen.until("Not answered: Too short.");
    await here.screen.until(/─ Your answer: ─+\n *green/);
    await here.quiet();
    here.keys(ENTER, ENTER);
    await here.screen.until("Not answered: Something went wrong inside banyan: x is not a function");
    await here.screen.until(/─ Your answer: ─+\n *green/);
    await here.quiet();
    here.keys(ENTER, ENTER);
    await ended;
    expect(outcome(session)?.output).toBe("green");
  });

  test("T4: goes into the history when Ctrl-C stops the agent instead", async () => {
    const { session, question } = await asking(RUNS);
    const { here, approvals } = person();
    void approvals.ask(session, question);
    await beginsToDeny(here);
    here.keys(CTRL_C);
    await here.screen.until("Your answer was not sent. It is in the input history: it is");
    expect(here.interrupts).toBe(1);
    expect(files()).toEqual([]);
  });

  test("T27: a reason is there again at its choice, and nothing is decided by that", async () => {
    const { session, question, ended } = await asking(RUNS);
    const first = person();
    void first.approvals.ask(session, question);
    await beginsToDeny(first.here);
    first.here.terminal.close();
    first.unsent.close();

    const second = person();
    void second.approvals.ask(session, question);
    await second.here.screen.until("n  No, and say why: it is");
    // A key typed while the question appears does not answer it.
    second.here.keys(ENTER);
    await second.here.quiet();
    expect(session.state.questions.size).toBe(1);
    second.here.keys("n", ENTER, "\x1b[200~too\nearly\x1b[201~", ENTER);
    await ended;
    expect(outcome(session)).toMatchObject({ status: "denied", output: "The user denied this call: it is too early" });
    expect(files()).toEqual([]);
    expect(await isPutAside(second.here)).toBe(false);
  });

  test("T27: a reason from which the person went back to another choice goes into the history", async () => {
    const { session, question, ended } = await asking(RUNS);
    const { here, approvals } = person();
    void approvals.ask(session, question);
    await beginsToDeny(here);
    here.keys(ESC);
    await here.screen.until(/^Allow this\?$/);
    here.keys("e", ENTER);
    await here.screen.until("Arguments of run:");
    here.keys(ENTER);
    await here.screen.until(/^Allow this\?$/);
    here.keys("n", ENTER);
    await here.screen.until("Reason (optional): it is");
    here.keys(ESC);
    await here.screen.until(/^Allow this\?$/);
    here.keys("y", ENTER);
    await ended;
    expect(outcome(session)).toMatchObject({ status: "completed" });
    await here.screen.until("Your answer was not sent. It is in the input history: it is");
  });

  test("T27: changed arguments return, both valid and invalid JSON", async () => {
    const { session, question, ended } = await asking(RUNS);
    const first = person();
    void first.approvals.ask(session, question);
    await first.here.screen.until("Allow this?");
    await first.here.quiet();
    first.here.keys("e", ENTER);
    await first.here.screen.until('{"what":"it"}');
    first.here.keys(CTRL_U, '{"what":"her"', ENTER);
    await first.here.screen.until("The arguments are not JSON");
    first.here.keys("e", ENTER);
    await first.here.screen.until(/^ *\{"what":"her"$/);
    first.here.keys("}", ENTER);
    await first.here.screen.until(/^ *what: "her"$/);
    expect(files()).toHaveLength(1);
    first.here.terminal.close();
    first.unsent.close();

    const second = person();
    void second.approvals.ask(session, question);
    await second.here.screen.until(/─ Arguments of run: ─+\n *\{"what":"her"\}/);
    await second.here.quiet();
    second.here.keys(ENTER, ENTER);
    await second.here.screen.until("Allow this?");
    await second.here.quiet();
    expect(session.state.questions.size).toBe(1);
    second.here.keys("y", ENTER);
    await ended;
    expect(outcome(session)).toMatchObject({ status: "completed", executedInput: { what: "her" } });
    await expect.poll(files).toEqual([]);
    expect(await isPutAside(second.here)).toBe(false);
  });

  test("an unchanged answer leaves no draft", async () => {
    const { session, question, ended } = await asking(RUNS);
    const { here, approvals } = person();
    void approvals.ask(session, question);
    await here.screen.until("Allow this?");
    await here.quiet();
    here.keys("e", ENTER);
    await here.screen.until("Arguments of run:");
    here.keys("x", "\x7f", ENTER);
    await here.screen.until(/^Allow this\?$/);
    await setImmediate();
    await setImmediate();
    expect(files()).toEqual([]);
    await session.answer(question, { decision: "allow" });
    await ended;
    expect(await isPutAside(here)).toBe(false);
  });

  test("goes into the history when its call has ended without asking again; until then it waits", async () => {
    const { session, question, ended } = await asking(RUNS);
    const left = unsentAt("/somewhere");
    left.answering(session.id, { call: "a call", what: "Reason (optional)" }).draft("it is too early");
    left.answering(session.id, { call: "a call that is not there", what: "Which colour?" }).draft("green");
    left.close();

    const { here, approvals } = person();
    approvals.opened(session.state);
    await here.screen.until("Your answer was not sent. It is in the input history: green");
    await here.screen.until("Your unfinished answer is kept until the agent asks again.");
    expect(files()).toHaveLength(1);
    await session.answer(question, { decision: "allow" });
    await ended;
    approvals.ended(session.state);
    await here.screen.until("Your answer was not sent. It is in the input history: it is too early");
    expect(files()).toEqual([]);
    here.keys(UP);
    await here.screen.until(/─ Reply: ─+\n *it is too early/);
  });
});
