import { expect, test } from "vitest";
import type { Event } from "../conversation/event.ts";
import { isEvent } from "../conversation/feed-item.ts";
import { textOf } from "../conversation/message.ts";
import type { Json } from "../conversation/part.ts";
import { noUsage } from "../conversation/usage.ts";
import type { ModelPart } from "../ports/model.ts";
import type { LoopDriver, TurnSink } from "../ports/tool.ts";
import type { Session } from "../session/session.ts";
import { call, fail, type Scene, text } from "../testing/scripted-model.ts";
import { resume } from "./directive.ts";
import { Disk, FLUSHED, World } from "./power-cut.fixture.ts";

/** A turn with everything: one scene for each model call. */
const SCENES: readonly Scene[] = [
  [text("Looking."), call("look"), call("look")],
  [text("Putting."), call("put"), call("send"), call("nobody")],
  [call("send", { ask: true }), call("send", { ask: true }), call("look")],
  [call("listen")],
  [text("A block."), call("send"), call("put")],
  [fail("overloaded")],
  [call("inquire"), call("serve")],
  [call("launch")],
  [text("It rained. ".repeat(200)), call("shorten"), call("send")],
  "Done.",
];

const FINISHED: Scene = [call("finish_task", { result: "Found.", summary: "Found it." })];

/** Plays a conversation with everything, and all actions of a user. */
async function wholeConversation(): Promise<World> {
  const world = new World(new Disk());
  const session = await world.open();
  const { state } = session;
  let next = 0;
  const agent = world.agent((isSubAgent) => (isSubAgent ? FINISHED : (SCENES[next++] ?? "Done.")));
  const isKnown = (id: string, words: string) => (later: Session) => {
    const said = later.state.messages.get(id) ?? later.state.inbox.find((input) => input.id === id);
    return JSON.stringify(said?.parts).includes(words) ? undefined : `${id} does not say "${words}"`;
  };
  const of = (id: string, name: "label" | "starred", value: Json) => (later: Session) =>
    wrong(later.state.messages.get(id)?.[name], value);
  const acts: (() => Promise<void>)[] = [
    () => {
      const saying = session.say("Also this.", { id: "steered", delivery: "steer" });
      return world.promise("a steer is taken", saying, isKnown("steered", "Also this."));
    },
    () => {
      const saying = session.say("Later this.", { id: "queued", delivery: "queue" });
      return world.promise("a text is queued", saying, isKnown("queued", ""));
    },
    () => {
      const editing = session.editInput("queued", { parts: [{ type: "text", text: "Later that." }] });
      return world.promise("it is rewritten", editing, isKnown("queued", "Later that."));
    },
    () => {
      const saying = session.say("Never mind.", { id: "withdrawn", delivery: "queue" });
      return world.promise("another is queued", saying, () => undefined);
    },
    () =>
      world.promise("it is withdrawn", session.withdrawInput("withdrawn"), ({ state: { messages, inbox } }) =>
        messages.has("withdrawn") || inbox.some(({ id }) => id === "withdrawn") ? "it is there" : undefined,
      ),
    () => world.promise("it has a title", session.notes.rename("Rain"), (later) => wrong(later.state.title, "Rain")),
    () => world.promise("it has a model", session.notes.changeModel("a/b"), (later) => wrong(later.state.model, "a/b")),
  ];
  const first = () => [...state.messages.keys()][0] as string;
  const acting = new Set<Promise<void>>();
  session.listen({
    items: (items) => {
      for (const item of items) {
        if (!isEvent(item)) continue;
        if (item.type === "call.approval-requested") acting.add(world.answer(session, item.question, item.call));
        if (item.type === "question.asked")
          acting.add(session.answer(item.question, { decision: "answer", text: "That one." }));
        if (item.type === "run.paused") acting.add(session.answer(item.question, { decision: "allow" }));
        const act = item.type === "message.started" ? acts.shift() : undefined;
        if (act) acting.add(act());
      }
    },
    ended: () => {},
  });
  const turn = await agent.send("Begin", { session });
  await Promise.all(acting);
  const last = turn.message?.id as string;
  await world.promise("a message has a label", session.notes.label(first(), "here"), of(first(), "label", "here"));
  await world.promise("a message has a star", session.notes.star(first(), true), of(first(), "starred", true));
  const dismissed = (later: Session) => {
    const message = later.state.messages.get(first());
    return wrong(message?.role === "user" && message.recalled?.[0]?.dismissed, true);
  };
  await world.promise("what was recalled is not wanted", session.notes.dismiss(first(), 0, true), dismissed);
  await world.promise("a message is removed", session.notes.remove(last), () => undefined);
  await world.promise("it is restored", session.notes.restore(last), ({ state }) =>
    wrong(state.messages.get(last)?.removed ?? false, false),
  );
  await world.promise("a rule is revoked", session.revoke("send"), () => undefined);
  const [call = ""] = state.calls.keys();
  const change = { path: "b.txt", kind: "deleted", before: "1", after: null, added: 0, removed: 1, diff: "" } as const;
  await world.promise("a change is noted", session.notes.fileChange(call, change), (later) => {
    const calls = [...later.state.messages.values()].flatMap((m) => (m.role === "assistant" ? m.calls : []));
    const paths = calls.find(({ id }) => id === call)?.changes?.map(({ path }) => path) ?? [];
    return paths.includes("b.txt") ? undefined : "the call did not change it";
  });
  await world.promise(
    "a message is added",
    session.add("By the way.", { id: "added" }),
    isKnown("added", "By the way."),
  );
  // A later turn tells the model, and then the process need not be kept.
  const end = "it was stopped by a person";
  const isTold = ({ state }: Session) =>
    [...state.messages.values()].some((message) => textOf(message) === `p1 (a server) has ended: ${end}.`);
  const over = (later: Session) => (isTold(later) ? undefined : wrong(later.state.processes.get("p1")?.outcome, end));
  await world.promise("what stays is stopped", session.processes.stop("p1", "it was stopped by a person"), over);
  await session.close();
  return world;
}

/** A turn that is interrupted while a user is asked, and another whose model breaks off within its calls. */
async function brokenOff(): Promise<World> {
  const world = new World(new Disk());
  const session = await world.open();
  const scenes: Scene[] = [
    [call("look"), call("inquire")],
    [text("Half "), call("send"), fail("quota")],
  ];
  const agent = world.agent(() => scenes.shift() ?? "Done.");
  session.listen({
    items: (items) => {
      if (items.some(({ type }) => type === "question.asked")) session.interrupt();
    },
    ended: () => {},
  });
  for (const said of ["Begin", "Go on", "Once more"]) await agent.send(said, { session }).catch(() => {});
  await session.close();
  return world;
}

/** A turn of a loop with calls on its side and calls of our tools. */
async function reported(): Promise<World> {
  const world = new World(new Disk());
  const session = await world.open();
  const answer = async (sink: TurnSink, ...tools: readonly string[]) => {
    const model = await sink.begin();
    const calls = tools.flatMap((tool, index): ModelPart[] => [
      { type: "call", index, id: `call_${tool}`, tool },
      { type: "call-input", index, text: "{}" },
      { type: "call-end", index },
    ]);
    model.push([...calls, { type: "finish", reason: calls.length > 0 ? "calls" : "stop", usage: noUsage }]);
    await sink.complete();
    world.mustBeFlushed("the other side goes on behind its answer", []);
  };
  const loop: LoopDriver = {
    id: "remote/agent",
    family: "remote",
    run: async (_, sink) => {
      await answer(sink, "compile", "put", "look");
      await sink.started("call_compile");
      world.mustBeFlushed("the other side starts a call", []);
      await sink.ended("call_compile", { output: "compiled", failed: false });
      await sink.execute("call_put");
      await answer(sink);
    },
  };
  await world.agent(() => "Done.", loop).send("Begin", { session });
  await session.close();
  return world;
}

function wrong(found: unknown, wanted: Json): string | undefined {
  return found === wanted ? undefined : `it is ${found}`;
}

const worlds = [await wholeConversation(), await brokenOff(), await reported()];

test("F31: each event that must survive a power cut is flushed before a reader gets it", () => {
  expect(worlds.flatMap(({ problems }) => problems)).toEqual([]);
  // Imports, long answers, summaries by a model and goals have tests of their own.
  const others = ["conversation.brought-in", "goal.checked", "message.checkpoint", "usage.counted"];
  expect(Object.keys(FLUSHED).filter((type) => worlds.every(({ heard }) => !heard.has(type as Event["type"])))).toEqual(
    others,
  );
});

test("F31: after any power cut, no act is repeated and no acknowledged message is lost", async () => {
  const cuts = worlds.flatMap((world) => world.cuts);
  expect(cuts.length).toBeGreaterThan(150);
  for (const end of cuts) {
    const world = new World(new Disk(end.events), end);
    const session = await world.open();
    const agent = world.agent((isSubAgent) => (isSubAgent ? FINISHED : "Done."));
    session.listen({
      items: (items) => {
        for (const item of items) {
          if (!isEvent(item)) continue;
          if (item.type === "call.approval-requested") void world.answer(session, item.question, item.call);
          if (item.type === "question.asked") void session.answer(item.question, { decision: "answer", text: "This." });
          if (item.type === "run.paused") void session.answer(item.question, { decision: "allow" });
        }
      },
      ended: () => {},
    });
    // Answers the open questions before the conversation continues.
    for (const question of session.openQuestions) {
      if (question.type === "approval") await world.answer(session, question.id, question.call);
      else if (question.type === "limit") await session.answer(question.id, { decision: "allow" });
      else await session.answer(question.id, { decision: "answer", text: "This." });
    }
    const { inbox, waiting } = session.state;
    if (session.interrupted.length > 0 || waiting.size > 0 || inbox.length > 0) {
      for await (const _ of agent.chat(resume(), { session }));
    } else await agent.send("Are you there?", { session });
    expect(world.check(session), `cut at: ${end.when} (${end.events.length})`).toEqual([]);
    await session.close();
  }
});
