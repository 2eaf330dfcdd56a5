import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { askClient } from "../agent/control/ask-client.ts";
import { resume, say } from "../agent/directive.ts";
import type { Event } from "../conversation/event.ts";
import { type AssistantMessage, textOf } from "../conversation/message.ts";
import type { Rights } from "../ports/rights.ts";
import type { Log, Store } from "../ports/store.ts";
import type { Tool } from "../ports/tool.ts";
import type { Effects } from "../ports/tool-values.ts";
import { letPass, stopTheClock } from "../run/clock.fixture.ts";
import { Session } from "../session/session.ts";
import {
  call,
  checkConversation,
  collect,
  readUntil,
  reasoning,
  type ScriptedModel,
  scriptedModel,
  text,
} from "../testing/index.ts";

/** A log in memory that begins with the events before a crash. */
function storeOf(events: Event[], ends: number[] = [], rights?: { kept: Rights | undefined }): Store {
  const log: Log = {
    ...(rights && {
      rights: {
        read: () => rights.kept,
        write: (changed) => {
          rights.kept = changed;
        },
      },
    }),
    epoch: (events.at(-1)?.epoch ?? 0) + 1,
    get seq() {
      return events.length;
    },
    read: async function* (after = 0) {
      yield events.slice(after);
    },
    append: (added) => void ends.push(events.push(...added)),
    close: async () => {},
  };
  return {
    open: async () => log,
    view: async () => log,
    list: async () => [],
    search: async () => [],
    remove: async () => {},
    close: async () => {},
  };
}

/** Three tools that count the starts of each call, by its key. */
function counters() {
  const started = new Map<string, number>();
  const tool = (name: string, effects: Effects): Tool => ({
    name,
    description: name,
    input: { type: "object" },
    effects,
    execute: (_, { key, call }) => {
      started.set(`${name} ${call} ${key}`, (started.get(`${name} ${call} ${key}`) ?? 0) + 1);
      return `${name} done`;
    },
  });
  return { started, tools: [tool("look", "none"), tool("save", "idempotent"), tool("send", "external")] };
}

const scenes = () => [
  [reasoning("Hm."), text("Let me see."), call("look", {}, "c1"), call("save", {}, "c2"), call("send", {}, "c3")],
  "All done.",
];

/** Invariants of an idle conversation. */
function check(session: Session): void {
  expect(checkConversation(session.state)).toEqual([]);
}

/** The log of a whole conversation, for cutting; `ends`: the ends of its appends. */
async function wholeLog(ends: number[] = []): Promise<Event[]> {
  const events: Event[] = [];
  const session = await Session.open(storeOf(events, ends));
  const { tools } = counters();
  await new Agent({ model: scriptedModel(scenes()), tools }).send("Go", { session });
  await session.close();
  return events;
}

describe("B24: a conversation whose process stopped", () => {
  test("F1, F9: at any cut of its log, a new message is accepted, each call has one result, and nothing stays busy", async () => {
    const whole = await wholeLog();
    for (let kept = 1; kept < whole.length; kept++) {
      const events = structuredClone(whole.slice(0, kept));
      const session = await Session.open(storeOf(events), whole[0]?.type === "conversation.created" ? whole[0].id : "");
      const { tools } = counters();
      const model = scriptedModel(() => "Here I am.");
      const turn = await new Agent({ model, tools }).send("Are you there?", { session });
      expect(turn.text).toBe("Here I am.");
      check(session);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      await session.close();
      const again = await Session.open(storeOf(events), session.id);
      expect({ ...again.state, epoch: 0 }).toEqual({ ...session.state, epoch: 0 });
    }
  });

  test("F11: at any cut of its log, resuming starts an external effect at most once over both processes", async () => {
    const ends: number[] = [];
    const whole = await wholeLog(ends);
    let resumed = 0;
    for (const kept of ends) {
      const events = structuredClone(whole.slice(0, kept));
      const before = events.some((event) => event.type === "call.executing" && event.call === "c3");
      const session = await Session.open(storeOf(events), "x");
      if (session.interrupted.length === 0) continue;
      resumed++;
      const { started, tools } = counters();
      const model = scriptedModel(({ messages }) =>
        messages.some((m) => m.role === "assistant") ? "Done." : scenes()[0],
      );
      await collect(new Agent({ model, tools }).chat(resume(), { session }));
      check(session);
      const sent = [...started].filter(([name]) => name.startsWith("send c3"));
      const answers = [...session.state.messages.values()].filter((m): m is AssistantMessage => m.role === "assistant");
      const send = answers.flatMap(({ calls }) => calls).find(({ id }) => id === "c3");
      if (before) {
        expect(sent).toEqual([]);
        const ended = events.some((event) => event.type === "call.completed" && event.call === "c3");
        if (!ended || send?.status === "failed") {
          expect(send?.output).toBe(
            "The process stopped while this call ran; whether the call took effect is unknown.",
          );
        }
      } else {
        expect(sent.map(([, times]) => times)).toEqual([1]);
      }
    }
    expect(resumed).toBe(ends.length - 2);
  });

  test("B13: applies the time limit of the turn to repeated calls too, and the turn ends with a last text", async () => {
    const whole = await wholeLog();
    const at = whole.findIndex((event) => event.type === "call.executing" && event.call === "c2");
    const session = await Session.open(storeOf(structuredClone(whole.slice(0, at + 1))), "x");
    const [look, , send] = counters().tools as [Tool, Tool, Tool];
    const save: Tool = {
      ...look,
      name: "save",
      execute: (_, { signal }) => {
        letPass(180);
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
    };
    stopTheClock();
    const model = scriptedModel(["As far as I came."]);
    const agent = new Agent({ model, tools: [look, save, send], limits: { time: 200 } });
    const items = await collect(agent.chat(resume(), { session }));
    expect(items.at(-1)).toMatchObject({ type: "chat.ended", reason: "limit" });
    const shown = model.requests[0]?.messages.find(({ role }) => role === "assistant");
    expect(shown?.role === "assistant" && shown.results.map(({ output }) => output)).toEqual([
      "look done",
      "Stopped: the turn reached the limit of 0.2 s.",
      "Not executed: the turn reached the limit of 0.2 s.",
    ]);
    check(session);
  });

  test("C12, F72: keeps an unanswered question with choices open, and its answer is the result", async () => {
    const events: Event[] = [];
    const first = await Session.open(storeOf(events), "x");
    const questions = [{ heading: "Colour", question: "Which?", choices: [{ label: "red" }, { label: "blue" }] }];
    const asks = call("ask_client", { question: "How shall it look?", questions });
    const before = new Agent({ model: scriptedModel([[asks]]), tools: [askClient()] }).chat(say("Go"), {
      session: first,
    });
    await readUntil(before[Symbol.asyncIterator](), (item) => item.type === "question.asked");
    const [open] = first.openQuestions;

    // The process stops here, and only its log remains.
    const session = await Session.open(storeOf(structuredClone(events)), "x");
    expect(session.openQuestions).toEqual([open]);
    const model = scriptedModel(["Thanks."]);
    const chat = new Agent({ model, tools: [askClient()] }).chat(resume(), { session })[Symbol.asyncIterator]();
    await readUntil(chat, (item) => item.type === "call.executing");
    await session.answer(open?.id ?? "", { decision: "answer", text: "red" });
    const items: string[] = [];
    await readUntil(chat, (item) => items.push(item.type) > 0 && item.type === "chat.ended");
    expect(items).not.toContain("question.asked");
    const shown = model.requests[0]?.messages.at(-1);
    expect(shown?.role === "assistant" && shown.results.map(({ output }) => output)).toEqual(["red"]);
    check(session);
    await first.close();
  });

  test("repeats a harmless call with the same key and the next attempt", async () => {
    const whole = await wholeLog();
    const at = whole.findIndex((event) => event.type === "call.executing" && event.call === "c2");
    const events = structuredClone(whole.slice(0, at + 1));
    const before = events.findLast((event) => event.type === "call.executing");
    const session = await Session.open(storeOf(events), "x");
    const { started, tools } = counters();
    const model = scriptedModel(["Done."]);
    await collect(new Agent({ model, tools }).chat(resume(), { session }));
    const shown = model.requests[0]?.messages.at(-1);
    expect(shown?.role === "assistant" && shown.results.map(({ output }) => output)).toEqual([
      "look done",
      "save done",
      "send done",
    ]);
    const again = events.findLast((event) => event.type === "call.executing" && event.call === "c2");
    expect(again).toMatchObject({ attempt: 2, key: before?.type === "call.executing" ? before.key : "" });
    expect([...started.keys()].some((name) => name.startsWith("save c2"))).toBe(true);
  });

  test("F72: keeps the question of an open approval, and asks no answered question again", async () => {
    const events: Event[] = [];
    const { tools } = counters();
    const permission = () => ({ decision: "ask" }) as const;
    const rights = { kept: undefined };
    const first = await Session.open(storeOf(events, [], rights));
    const agent = new Agent({
      model: scriptedModel([[call("send", {}, "c1"), call("send", {}, "c2")]]),
      tools,
      permission,
    });
    const feed = agent.chat(say("Go"), { session: first })[Symbol.asyncIterator]();
    const questions: string[] = [];
    while (questions.length < 2) {
      const { value } = await feed.next();
      if (value.type === "call.approval-requested") questions.push(value.question);
    }
    await first.answer(questions[0] as string, { decision: "allow" });
    const answered = events.findIndex(({ type }) => type === "call.approval-resolved");
    const cut = structuredClone(events.slice(0, answered + 1));
    const session = await Session.open(storeOf(cut, [], structuredClone(rights)), first.id);
    const later = counters();
    const next = new Agent({ model: scriptedModel(["Done."]), tools: later.tools, permission });
    expect(session.openQuestions).toMatchObject([{ id: questions[1], call: "c2" }]);
    for await (const item of next.chat(resume(), { session })) {
      expect(item.type).not.toBe("call.approval-requested");
      if (item.type !== "call.executing") continue;
      await session.answer(questions[1] as string, { decision: "deny", reason: "no" });
    }
    expect([...later.started.keys()].map((name) => name.split(" ")[1])).toEqual(["c1"]);
    check(session);
    await feed.return?.();
  });

  test("B23: uses a user's answer about a call of the old process when a user resumes", async () => {
    const events: Event[] = [];
    const { tools } = counters();
    const permission = () => ({ decision: "ask" }) as const;
    const first = await Session.open(storeOf(events));
    const model = scriptedModel([[call("send", {}, "c1"), call("send", {}, "c2")]]);
    const feed = new Agent({ model, tools, permission }).chat(say("Go"), { session: first })[Symbol.asyncIterator]();
    for (let asked = 0; asked < 2; ) if ((await feed.next()).value.type === "call.approval-requested") asked++;

    const session = await Session.open(storeOf(structuredClone(events)), first.id);
    const [one, two] = [...session.state.questions.keys()] as [string, string];
    await session.answer(one, { decision: "allow" });
    await session.answer(two, { decision: "deny", reason: "too late" });
    expect(session.state.questions.size).toBe(0);
    await expect(session.answer(one, { decision: "allow" })).rejects.toMatchObject({ code: "no-question" });
    const later = counters();
    const next = new Agent({ model: scriptedModel(["Done."]), tools: later.tools, permission });
    const items = await collect(next.chat(resume(), { session }));
    expect(items.filter(({ type }) => type === "call.approval-requested")).toEqual([]);
    expect([...later.started.keys()].map((name) => name.split(" ")[1])).toEqual(["c1"]);
    const answer = [...session.state.messages.values()].find(({ role }) => role === "assistant") as AssistantMessage;
    expect(answer.calls.map(({ output }) => output)).toEqual(["send done", "The user denied this call: too late"]);
    check(session);
    await feed.return?.();
  });

  test("B33: ends the listening of a call, and the model gets the known part of the outcome", async () => {
    const listen: Tool = {
      name: "listen",
      description: "Listens.",
      input: { type: "object" },
      effects: "none",
      execute: (_, context) => context.follow({ completed: () => ({ say: "Applied." }) }),
    };
    const events: Event[] = [];
    const first = await Session.open(storeOf(events));
    const model = scriptedModel([[call("listen")], "the blocks", "fine"]);
    await collect(new Agent({ model, tools: [listen] }).chat(say("Go"), { session: first }));
    const armed = events.findIndex(({ type }) => type === "call.following");
    const applied = events.findIndex(({ type }) => type === "call.followed");
    const told = new Map<string, number>();
    for (let length = armed + 1; length <= applied; length++) {
      const session = await Session.open(storeOf(structuredClone(events.slice(0, length))), first.id);
      expect(session.state.following.size).toBe(0);
      expect(session.interrupted).toHaveLength(1);
      await collect(new Agent({ model: scriptedModel(["Done."]), tools: [listen] }).chat(resume(), { session }));
      check(session);
      const notes = [...session.state.messages.values()].filter((m) => m.role === "user" && m.author === "tool");
      expect(notes).toHaveLength(1);
      const text = notes[0] ? textOf(notes[0]) : "";
      const known = /no part of the message was applied/.test(text)
        ? "nothing"
        : /is unknown/.test(text)
          ? "unknown"
          : text;
      told.set(known, (told.get(known) ?? 0) + 1);
    }
    // A call without a result follows again. Before its message is in the log, it cannot have acted.
    expect(told).toEqual(
      new Map([
        ["Applied.", 1],
        ["nothing", applied - armed - 2],
        ["unknown", 1],
      ]),
    );
  });

  test("F22: holds waiting text until a user sends it", async () => {
    const whole = await wholeLog();
    const run = whole.find((event) => event.type === "run.started");
    const events = structuredClone(whole.slice(0, 6));
    if (run?.type !== "run.started") throw new Error("No run.");
    const at = { seq: events.length + 1, epoch: 1, at: 0 };
    events.push({
      type: "input.queued",
      input: "i1",
      parts: [{ type: "text", text: "waiting" }],
      delivery: "steer",
      run: run.run,
      ...at,
    });
    const session = await Session.open(storeOf(events), "x");
    expect(session.interrupted).toHaveLength(1);
    await new Agent({ model: scriptedModel(["Yes?"]), tools: counters().tools }).send("Hello", { session });
    expect(session.state.inbox).toMatchObject([{ id: "i1", held: true }]);
    await collect(new Agent({ model: scriptedModel(["Ah."]) }).chat(resume(), { session }));
    expect(session.state.inbox).toEqual([]);
    check(session);
  });

  test("F9: at any cut of its log, is not busy after opening, and can continue the interrupted turn", async () => {
    const whole = await wholeLog();
    for (let kept = 1; kept < whole.length; kept++) {
      const events = structuredClone(whole.slice(0, kept));
      const session = await Session.open(storeOf(events), "x");
      expect(session.state.runs.size).toBe(0);
      expect([...session.state.messages.values()].filter((m) => m.role === "assistant" && !m.finish)).toEqual([]);
      for (const { leaf } of session.interrupted) {
        expect(session.state.messages.has(String(leaf))).toBe(true);
        // No user stopped the turn, and the report does not say so (W48).
        expect(session.state.broken.get(String(leaf))).toMatchObject({ reason: "interrupted", code: "cut-off" });
      }
      // Viewing the conversation writes nothing.
      expect(events).toHaveLength(kept);
    }
  });

  test("F1: continues if it stops again after a new message and before its calls have results", async () => {
    const whole = await wholeLog();
    const at = whole.findIndex((event) => event.type === "call.executing" && event.call === "c2");
    const events = structuredClone(whole.slice(0, at + 1));
    const ends: number[] = [];
    const first = await Session.open(storeOf(events, ends), "x");
    await new Agent({ model: scriptedModel(["Yes."]), tools: counters().tools }).send("Hello?", { session: first });
    const said = events.findIndex((event) => event.type === "message.added" && event.seq > at + 1);
    const end = ends.find((length) => length > said);
    const again = structuredClone(events.slice(0, end));
    expect(again.some((event) => event.type === "call.executing" && event.attempt === 2)).toBe(false);

    const session = await Session.open(storeOf(again), "x");
    const { started, tools } = counters();
    await collect(new Agent({ model: scriptedModel(["Yes."]), tools }).chat(resume(), { session }));
    expect([...started.keys()].map((name) => name.split(" ")[1])).toEqual(["c2", "c3"]);
    check(session);
  });

  test("F11: starts the calls of one answer once if two branches continue from it at once", async () => {
    const whole = await wholeLog();
    const at = whole.findIndex((event) => event.type === "call.executing" && event.call === "c2");
    const session = await Session.open(storeOf(structuredClone(whole.slice(0, at + 1))), "x");
    const { started, tools } = counters();
    const answer = String(session.state.leaf);
    const models = [scriptedModel(["One."]), scriptedModel(["Two."])] as const;
    const chat = (model: ScriptedModel) =>
      new Agent({ model, tools }).chat(say("And?"), { session, at: answer })[Symbol.asyncIterator]();
    const one = chat(models[0]);
    await readUntil(one, (item) => item.type === "run.started");
    const two = chat(models[1]);
    await Promise.all([one, two].map((feed) => readUntil(feed, (item) => item.type === "chat.ended")));
    expect([...started.values()]).toEqual([1, 1]);
    expect(session.state.children.get(answer)).toHaveLength(2);
    for (const { requests } of models) {
      const shown = requests[0]?.messages.find((message) => message.role === "assistant");
      expect(shown?.role === "assistant" && shown.results.map(({ output }) => output)).toEqual([
        "look done",
        "save done",
        "send done",
      ]);
    }
    check(session);
  });
});
