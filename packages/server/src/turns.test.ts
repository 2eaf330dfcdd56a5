import { createId, defineTool, launchAgent } from "@banyan/core";
import { call, scriptedModel, stall, text } from "@banyan/core/testing";
import { describe, expect, test } from "vitest";
import { serving } from "./testing/serving.fixture.ts";
import { gated, talking } from "./testing/talking.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

const say = (words: string) => [{ type: "text", text: words }] as const;

describe("B59: a command that comes twice acts once", () => {
  test("B59: on one server, from any client that repeats it", async () => {
    const { server, client, conversation, ended, said } = await talking({ model: scriptedModel(["One.", "Two."]) });
    const other = await TestClient.connect(server);
    const id = createId();
    client.send("turn.say", { id, conversation, parts: say("hello") });
    client.send("turn.say", { id, conversation, parts: say("hello") });
    other.send("turn.say", { id, conversation, parts: say("hello") });
    const outcomes = [await client.outcome(id), await client.outcome(id, 2), await other.outcome(id)];
    expect(outcomes.map((outcome) => outcome.type === "done" && outcome.result)).toEqual(
      Array(3).fill({ message: id, waits: false, attached: [], problems: [], redacted: false }),
    );
    await ended(1);
    const star = createId();
    for (const starred of [true, false])
      await client.ask("message.star", { id: star, conversation, message: id, starred });
    expect(said()).toHaveLength(2);
    expect(client.items.filter(({ type }) => type === "message.starred")).toHaveLength(1);
  });

  test("B59: a repeated message, retry or resume acts once, even after a restart of the server", async () => {
    const first = await talking({ model: scriptedModel(["One.", "Two.", [text("Thr"), stall()]]) });
    const { conversation } = first;
    const [sayId, retryId, againId, stalledId] = [createId(), createId(), createId(), createId()];
    const commands = [
      ["turn.say", { id: sayId, conversation, parts: say("hello") }],
      ["turn.retry", { id: retryId, conversation }],
    ] as const;
    for (const [index, [type, input]] of commands.entries()) {
      await first.client.ask(type, input as never);
      await first.ended(index + 1);
    }
    await first.client.ask("turn.retry", { id: stalledId, conversation, parts: say("bye") });
    await first.client.until(() => first.said().at(-1)?.text === "Thr");
    await first.server.stop();
    await first.store.close();

    const model = scriptedModel(["Never."]);
    const second = await serving({ model }, { directory: first.directory });
    const client = await TestClient.connect(second.server);
    await client.watch(conversation);
    for (const [type, input] of commands) await client.ask(type, input as never);
    expect(await client.ask("turn.retry", { id: stalledId, conversation, parts: say("bye") })).toMatchObject({
      message: stalledId,
    });
    await expect(
      client.ask("turn.say", { id: againId, conversation: createId(), parts: say("x") }),
    ).rejects.toMatchObject({
      code: "not-found",
    });
    expect(model.asked).toBe(0);
  });

  test("F47: a picture that the model's provider never takes is refused with one sentence, and nothing is written", async () => {
    const pictureProblem = ({ mediaType }: { readonly mediaType: string }) => `it is ${mediaType}`;
    const { client, conversation, said, ended } = await talking({
      model: { ...scriptedModel(["One."]), pictureProblem },
    });
    const file = { type: "file", mediaType: "image/bmp", name: "a.bmp", data: "Qk0=" } as const;
    const refused = client.ask("turn.say", { conversation, parts: [...say("Look."), file] });
    await expect(refused).rejects.toMatchObject({
      code: "invalid",
      message: "a.bmp cannot be sent to the model: it is image/bmp. Send another picture, or choose another model.",
    });
    expect(said()).toEqual([]);
    await client.ask("turn.say", { conversation, parts: say("Then not.") });
    await ended(1);
    const again = client.ask("turn.say", { conversation, parts: [...say("Look."), file] });
    await expect(again).rejects.toMatchObject({ code: "invalid" });
    expect(said()).toHaveLength(2);
  });

  test("a command that failed may be tried again under its id", async () => {
    const { client, conversation, said, ended } = await talking({ model: scriptedModel(["One."]) });
    const id = createId();
    const wrong = client.ask("turn.say", { id, conversation, parts: say("hello"), model: "unknown/model" });
    await expect(wrong).rejects.toMatchObject({ code: "invalid", message: "There is no model unknown/model." });
    client.send("turn.say", { id, conversation, parts: say("hello") });
    expect(await client.outcome(id, 2)).toMatchObject({ type: "done" });
    await ended(1);
    expect(said()).toHaveLength(2);
  });
});

describe("turns", () => {
  test("W9, W10: a message can follow any message, and another model can answer again", async () => {
    const quick = scriptedModel(["Quick."], { id: "scripted/quick", price: { input: 1e6, output: 1e6 } });
    const { client, conversation, ended, said, state } = await talking(
      { model: scriptedModel(["One.", "Two.", "Three."]) },
      { models: { quick } },
    );
    const first = await client.ask("turn.say", { conversation, parts: say("first") });
    await ended(1);
    const one = said()[1];
    await client.ask("turn.say", { conversation, parts: say("second") });
    await ended(2);
    await client.ask("turn.say", { conversation, at: one?.id as string, parts: say("beside") });
    await ended(3);
    await client.ask("turn.retry", { conversation, at: one?.id as string, model: "quick" });
    await ended(4);
    const text = new Map(said().map((message) => [message.id, message.text]));
    expect(said().map(({ parentId, text: own }) => [parentId && text.get(parentId), own])).toEqual([
      [null, "first"],
      ["first", "One."],
      ["One.", "second"],
      ["second", "Two."],
      ["One.", "beside"],
      ["beside", "Three."],
      ["first", "Quick."],
    ]);
    expect([...state.messages.values()].at(-1)).toMatchObject({
      model: "scripted/quick",
      cost: 2,
      parentId: first.message,
    });
  });

  test("W1: editing an earlier message makes a sibling, the very first one too", async () => {
    const { client, conversation, ended, said } = await talking({ model: scriptedModel(["One.", "Two."]) });
    const { message } = await client.ask("turn.say", { conversation, parts: say("frist") });
    await ended(1);
    const edited = await client.ask("turn.retry", { conversation, at: message, parts: say("first") });
    await ended(2);
    expect(said().map(({ parentId, text: own }) => [parentId, own])).toEqual([
      [null, "frist"],
      [message, "One."],
      [null, "first"],
      [edited.message, "Two."],
    ]);
  });

  test("B49, W11: two branches run at once, each with its own calls, and one is stopped alone", async () => {
    const [left, right] = [gated("left"), gated("right")];
    const model = scriptedModel((request) => {
      const asked = JSON.stringify(request.messages.findLast(({ role }) => role === "user"));
      const tool = asked.includes("left") ? "left" : "right";
      return request.messages.at(-1)?.role === "user" ? [call(tool)] : `${tool} is done.`;
    });
    const { client, conversation, state, ended } = await talking({ model, tools: [left.tool, right.tool] });
    const { message } = await client.ask("turn.say", { conversation, parts: say("left") });
    await client.item("call.executing");
    await client.ask("turn.retry", { conversation, at: message, parts: say("right") });
    await client.until(() => client.items.filter(({ type }) => type === "call.executing").length === 2);
    const [first, second] = [...state.runs.values()];
    expect([first?.leaf, second?.leaf].map((leaf) => state.messages.get(leaf ?? "")?.parentId)).toHaveLength(2);
    expect(await client.ask("run.interrupt", { conversation, run: first?.id as string })).toEqual({ interrupted: 1 });
    await ended(1);
    right.open();
    await ended(2);
    expect(client.items.flatMap((item) => (item.type === "run.ended" ? [item.reason] : []))).toEqual([
      "interrupted",
      "answered",
    ]);
    expect(
      [...state.messages.values()]
        .flatMap((each) => (each.role === "assistant" ? each.calls : []))
        .map(({ status }) => status),
    ).toEqual(["cancelled", "completed"]);
  });

  test("a conversation's own model counts more than the server's, and one that cannot be used is refused", async () => {
    const quick = scriptedModel(["Quick."], { id: "scripted/quick" });
    const { client, conversation, ended, state } = await talking({ model: scriptedModel([]) }, { models: { quick } });
    await expect(client.ask("model.use", { conversation, model: "slow" })).rejects.toMatchObject({ code: "invalid" });
    await client.ask("model.use", { conversation, model: "quick" });
    expect(state.model).toBe("quick");
    await client.ask("turn.say", { conversation, parts: say("hello") });
    await ended(1);
    expect([...state.messages.values()].at(-1)).toMatchObject({ model: "scripted/quick" });
  });

  test("task mode is a matter of the turn", async () => {
    const model = scriptedModel([[call("finish_task", { result: "42" })]]);
    const { client, conversation, ended } = await talking({ model });
    await client.ask("turn.say", { conversation, parts: say("compute"), mode: "task" });
    await ended(1);
    expect(await client.item("run.started")).toMatchObject({ mode: "task" });
    expect(await client.item("run.ended")).toMatchObject({ reason: "finished" });
  });

  test("a command that is impossible now fails with the reason", async () => {
    const { client, conversation, ended } = await talking({ model: scriptedModel(["One."]) });
    await expect(client.ask("turn.retry", { conversation })).rejects.toMatchObject({ code: "invalid" });
    await expect(client.ask("turn.resume", { conversation })).rejects.toMatchObject({ code: "invalid" });
    await expect(client.ask("turn.say", { conversation, parts: say(" ") })).rejects.toMatchObject({ code: "invalid" });
    await client.ask("turn.say", { conversation, parts: say("hello") });
    await ended(1);
    const nowhere = client.ask("turn.say", { conversation, at: "nowhere", parts: say("x") });
    await expect(nowhere).rejects.toMatchObject({ code: "invalid" });
    await expect(client.ask("message.label", { conversation, message: "nowhere", label: "x" })).rejects.toMatchObject({
      code: "not-found",
    });
  });
});

test("W40, W41: a sub-agent is part of the same feed, and is steered and stopped by its run", async () => {
  const gate = gated();
  const model = scriptedModel((request) => {
    const said = JSON.stringify(request.messages);
    const isSub = said.includes("The result must contain");
    if (!isSub)
      return said.includes("was stopped")
        ? "It was stopped."
        : [call("launch_agent", { task: "look", expected_output: "it" })];
    return request.messages.length === 1 ? [call("wait")] : [text("heard "), stall()];
  });
  const { client, conversation, ended, state, server } = await talking({ model, tools: [gate.tool, launchAgent()] });
  await client.ask("turn.say", { conversation, parts: say("go") });
  const started = await client.item("run.started", (item) => item.call !== undefined);
  await client.item("call.executing", ({ call: id }) => id !== started.call);
  const { state: snapshot } = await (await TestClient.connect(server)).watch(conversation);
  const [first] = snapshot.children.get(started.call ?? "") ?? [];
  expect(snapshot.messages.get(first ?? "")).toMatchObject({ role: "user", author: "tool", call: started.call });
  expect(snapshot.runs.get(started.run)).toMatchObject({ call: started.call });
  await client.ask("turn.say", { conversation, run: started.run, parts: say("look closer") });
  gate.open();
  await client.item("input.delivered");
  await client.until(() => [...state.messages.values()].some(({ parts }) => JSON.stringify(parts).includes("heard")));
  expect(await client.ask("run.interrupt", { conversation, run: started.run })).toEqual({ interrupted: 1 });
  await ended(2);
  expect(client.items.flatMap((item) => (item.type === "run.ended" ? [item.reason] : []))).toEqual([
    "interrupted",
    "answered",
  ]);
  // One turn has ended since the user looked.
  expect(await client.ask("conversation.list", {})).toMatchObject({ conversations: [{ unread: 1 }] });
});

test("B64: a turn goes on while nobody looks, and its conversation stays open until it has ended", async () => {
  const { tool, open } = gated();
  const model = scriptedModel([[text("Slowly."), call("wait")], "Done."]);
  const idle = 1_000;
  const { server, client, conversation } = await talking({ model, tools: [tool] }, { idle });
  await client.ask("turn.say", { conversation, parts: say("go") });
  client.socket.terminate();
  await client.end();
  const later = await TestClient.connect(server);
  const list = () => later.ask("conversation.list", {}).then(({ conversations }) => conversations[0]);
  await later.ask("conversation.watch", { on: true });
  // Without running work, the conversation would be closed by then.
  await new Promise((resolve) => setTimeout(resolve, 1.5 * idle));
  expect(await list()).toMatchObject({ running: 1, unread: 0 });
  open();
  await later.frame("conversations", ({ changed }) =>
    changed.some(({ running, unread }) => running === 0 && unread === 1),
  );
  const { state } = await later.watch(conversation);
  expect([...state.messages.values()].at(-1)).toMatchObject({ parts: say("Done.") });
  await later.ask("conversation.seen", { conversation });
  expect(await list()).toMatchObject({ running: 0, waiting: 0, unread: 0 });
});

test("C6: a background process keeps its conversation open; later clients see it and can stop it", async () => {
  let ended = 0;
  const tool = defineTool({
    name: "serve",
    description: "",
    input: { type: "object" },
    effects: "external",
    execute(_input: unknown, { stay }) {
      const { promise, resolve } = Promise.withResolvers<{ outcome: string }>();
      const end = () => {
        ended++;
        resolve({ outcome: "it was asked to" });
      };
      return stay({ title: "a server", over: promise, end });
    },
  });
  const idle = 200;
  const model = scriptedModel([[call("serve")], "It runs.", [call("serve")], "Again."]);
  const { server, client, conversation, ended: turns } = await talking({ model, tools: [tool] }, { idle });
  await client.ask("turn.say", { conversation, parts: say("go") });
  await turns(1);
  client.socket.terminate();
  await client.end();
  // Without a process, the conversation would be closed by then.
  await new Promise((resolve) => setTimeout(resolve, 3 * idle));
  const later = await TestClient.connect(server);
  const { state } = await later.watch(conversation);
  expect([...state.processes.values()]).toMatchObject([{ id: "p1", title: "a server" }]);
  expect(ended).toBe(0);
  await expect(later.ask("process.stop", { conversation, process: "p2" })).rejects.toThrow(/No process p2 runs/);
  await later.ask("process.stop", { conversation, process: "p1" });
  await later.item("process.ended");
  expect([...state.processes.values()]).toMatchObject([{ id: "p1", outcome: "a user stopped it" }]);
  await later.ask("turn.say", { conversation, parts: say("again") });
  await later.item("process.started");
  await server.stop();
  expect(ended).toBe(2);
});
