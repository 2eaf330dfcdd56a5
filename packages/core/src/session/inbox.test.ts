import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { resume, say } from "../agent/directive.ts";
import type { FeedItem } from "../conversation/feed-item.ts";
import { type Message, textOf } from "../conversation/message.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { defineTool } from "../ports/define-tool.ts";
import { call, collect, fail, readUntil, scriptedModel, stall, text } from "../testing/index.ts";
import { Session } from "./session.ts";

const words = (said: string) => [{ type: "text", text: said }] as const;

function lines(session: Session): string[] {
  return pathTo(session.state, session.state.leaf).map(textOf);
}

/** A tool that runs until `release` is called. */
function gate(effects: "none" | "external" = "external") {
  const opened = Promise.withResolvers<string>();
  const tool = defineTool({
    name: "gate",
    description: "",
    input: { type: "object" },
    effects,
    execute: (_, { signal }) => {
      signal.addEventListener("abort", () => opened.resolve("aborted"));
      return opened.promise;
    },
  });
  return { tool, release: () => opened.resolve("open") };
}

describe("B21: text that reaches a running turn", () => {
  test("a steer is delivered before the next model call, in the same run, and is shown as delivered only then", async () => {
    const session = Session.inMemory();
    const { tool, release } = gate();
    const model = scriptedModel([[text("Working."), call("gate")], "Changed course."]);
    const told: string[] = [];
    const agent = new Agent({ model, tools: [tool], callbacks: { onInterjection: (m) => void told.push(textOf(m)) } });
    const feed = agent.chat(say("Go"), { session })[Symbol.asyncIterator]();
    await readUntil(feed, (item) => item.type === "call.executing");
    const id = await session.say(words("Left, please."));
    expect(session.state.inbox).toMatchObject([{ id, delivery: "steer", held: false }]);
    release();
    const items: FeedItem[] = [];
    for await (const item of { [Symbol.asyncIterator]: () => feed }) items.push(item);
    expect(lines(session)).toEqual(["Go", "Working.", "Left, please.", "Changed course."]);
    expect(session.state.messages.get(id)).toMatchObject({ role: "user", author: "user" });
    expect(session.state.inbox).toEqual([]);
    expect(items.filter(({ type }) => type === "run.started")).toHaveLength(0);
    expect(told).toEqual(["Left, please."]);
  });

  test("B79: waits for the calls of the current step, also for those that had not started", async () => {
    const session = Session.inMemory();
    const { tool, release } = gate();
    const model = scriptedModel([[call("gate"), call("gate"), call("gate")], "Stopped."]);
    const feed = new Agent({ model, tools: [tool] }).chat(say("Go"), { session })[Symbol.asyncIterator]();
    await readUntil(feed, (item) => item.type === "call.executing");
    await session.say(words("Wait!"));
    release();
    await readUntil(feed, (item) => item.type === "chat.ended");
    expect(lines(session)).toEqual(["Go", "", "Wait!", "Stopped."]);
    const answer = pathTo(session.state, session.state.leaf)[1];
    expect(answer?.role === "assistant" && answer.calls.map(({ status, output }) => [status, output])).toEqual([
      ["completed", "open"],
      ["completed", "open"],
      ["completed", "open"],
    ]);
  });

  test("while an approval is open, a steer waits for it", async () => {
    const session = Session.inMemory();
    const { tool, release } = gate();
    release();
    const model = scriptedModel([[call("gate", {}, "asked"), call("gate", {}, "free")], "Done."]);
    const permission = ({ call }: { call: string }) => ({ decision: call === "asked" ? "ask" : "allow" }) as const;
    const agent = new Agent({ model, tools: [tool], permission });
    const feed = agent.chat(say("Go"), { session })[Symbol.asyncIterator]();
    const asked = await readUntil(feed, (item) => item.type === "call.approval-requested");
    await readUntil(feed, (item) => item.type === "call.completed");
    await session.say(words("And be quick."));
    if (asked.type === "call.approval-requested") await session.answer(asked.question, { decision: "allow" });
    await readUntil(feed, (item) => item.type === "chat.ended");
    expect(lines(session)).toEqual(["Go", "", "And be quick.", "Done."]);
    const answer = pathTo(session.state, session.state.leaf)[1];
    expect(answer).toMatchObject({ calls: [{ status: "completed" }, { status: "completed" }] });
  });

  test("becomes the next turn if it arrives during the last answer, before the handler runs", async () => {
    const session = Session.inMemory();
    const model = scriptedModel([[text("Almost "), text("done.")], "Of course."], { pace: 2 });
    const handled: number[] = [];
    const agent = new Agent({ model, onTurn: (conversation) => void handled.push(conversation.path.length) });
    const feed = agent.chat(say("Go"), { session })[Symbol.asyncIterator]();
    await readUntil(feed, (item) => item.type === "text.delta");
    await session.say(words("One more thing."));
    await readUntil(feed, (item) => item.type === "chat.ended");
    expect(lines(session)).toEqual(["Go", "Almost done.", "One more thing.", "Of course."]);
    expect(handled).toEqual([4]);
  });

  test("a queue entry waits for the end of the turn; several keep their order, and can be changed until then", async () => {
    const session = Session.inMemory();
    const { tool, release } = gate();
    const model = scriptedModel([[call("gate")], "Turn one.", "Turn two."]);
    const feed = new Agent({ model, tools: [tool] }).chat(say("Go"), { session })[Symbol.asyncIterator]();
    await readUntil(feed, (item) => item.type === "call.executing");
    const first = await session.say(words("first"), { delivery: "queue" });
    const second = await session.say(words("second"), { delivery: "queue" });
    const third = await session.say(words("third"), { delivery: "queue" });
    await session.editInput(first, { parts: words("FIRST") });
    await session.editInput(third, { before: first });
    await session.withdrawInput(second);
    await expect(session.withdrawInput(second)).rejects.toMatchObject({ code: "no-input" });
    release();
    await readUntil(feed, (item) => item.type === "chat.ended");
    expect(lines(session)).toEqual(["Go", "", "Turn one.", "third", "FIRST", "Turn two."]);
  });

  test("an interrupt aborts the model and the calls, and then is delivered", async () => {
    const session = Session.inMemory();
    const model = scriptedModel([[text("Long "), stall()], "Short."]);
    const feed = new Agent({ model }).chat(say("Go"), { session })[Symbol.asyncIterator]();
    await readUntil(feed, (item) => item.type === "text.delta");
    await session.say(words("Stop that. Be brief."), { delivery: "interrupt" });
    await readUntil(feed, (item) => item.type === "chat.ended");
    expect(lines(session)).toEqual(["Go", "Long ", "Stop that. Be brief.", "Short."]);
  });

  test("F22: after a stop or a failure waiting text is held until someone sends it", async () => {
    for (const end of ["stop", "failure"]) {
      const session = Session.inMemory();
      const { tool, release } = gate();
      const model = scriptedModel([[call("gate")], [fail("quota")], "Thank you."]);
      const agent = new Agent({ model, tools: [tool] });
      const feed = agent.chat(say("Go"), { session })[Symbol.asyncIterator]();
      await readUntil(feed, (item) => item.type === "call.executing");
      await session.say(words("later"), { delivery: "queue" });
      if (end === "stop") session.interrupt();
      else release();
      await readUntil(feed, (item) => item.type === "chat.ended");
      expect(session.state.inbox).toMatchObject([{ held: true }]);
      expect(lines(session)).not.toContain("later");
      const model2 = scriptedModel(["Thank you."]);
      await collect(new Agent({ model: model2 }).chat(resume(), { session }));
      expect(lines(session).slice(-2)).toEqual(["later", "Thank you."]);
      expect(session.state.inbox).toEqual([]);
    }
  });

  test("F22: at a limit becomes the next turn", async () => {
    const session = Session.inMemory();
    const { tool, release } = gate("none");
    const model = scriptedModel([[call("gate")], "Limit.", "Next."]);
    const agent = new Agent({ model, tools: [tool], limits: { steps: 1 } });
    const feed = agent.chat(say("Go"), { session })[Symbol.asyncIterator]();
    await readUntil(feed, (item) => item.type === "call.executing");
    await session.say(words("go on"), { delivery: "queue" });
    release();
    await readUntil(feed, (item) => item.type === "chat.ended");
    expect(lines(session).slice(-2)).toEqual(["go on", "Next."]);
  });

  test("is held if no turn runs, and resume delivers it", async () => {
    const session = Session.inMemory();
    await session.say(words("early"));
    expect(session.state.inbox).toMatchObject([{ run: null, held: true }]);
    await collect(new Agent({ model: scriptedModel(["Here."]) }).chat(resume(), { session }));
    expect(lines(session)).toEqual(["early", "Here."]);
  });

  test("is delivered by resume on its own branch only", async () => {
    const session = Session.inMemory();
    const agent = new Agent({
      model: scriptedModel(["one", [text("left"), stall()], [text("right"), stall()], "yes"]),
    });
    await agent.send("root", { session });
    const root = session.state.leaf as string;
    const feeds = [];
    for (const said of ["left side", "right side"]) {
      const feed = agent.chat(say(said), { session, at: root })[Symbol.asyncIterator]();
      await readUntil(feed, (item) => item.type === "text.delta");
      feeds.push(feed);
    }
    const runs = [...session.state.runs.values()];
    for (const { id, leaf } of runs) {
      const side = textOf(session.state.messages.get(leaf ?? "") as Message);
      await session.say(words(`for ${side}`), { run: id, delivery: "queue" });
    }
    session.interrupt();
    for (const feed of feeds) await readUntil(feed, (item) => item.type === "chat.ended");
    const left = runs
      .map(({ leaf }) => leaf as string)
      .find((id) => textOf(session.state.messages.get(id) as Message) === "left");
    await collect(agent.chat(resume(), { session, at: left ?? "" }));
    expect(lines(session)).toEqual(["root", "one", "left side", "left", "for left", "yes"]);
    expect(session.state.inbox.map(({ parts }) => parts)).toEqual([words("for right")]);
  });

  test("becomes the next turn when a turn ends, before a chat that waits for the branch", async () => {
    const session = Session.inMemory();
    const { tool, release } = gate();
    const agent = new Agent({ model: scriptedModel([[call("gate")], "one", "two", "three"]), tools: [tool] });
    const feed = agent.chat(say("Go"), { session })[Symbol.asyncIterator]();
    await readUntil(feed, (item) => item.type === "call.executing");
    await session.say(words("queued"), { delivery: "queue" });
    const other = agent.send("from a second client", { session });
    release();
    await readUntil(feed, (item) => item.type === "chat.ended");
    await other;
    expect(lines(session)).toEqual(["Go", "", "one", "queued", "two", "from a second client", "three"]);
  });

  test("B59: with a repeated id is delivered once", async () => {
    const session = Session.inMemory();
    expect(await session.say(words("once"), { id: "client-1" })).toBe("client-1");
    await session.say(words("once"), { id: "client-1" });
    expect(session.state.inbox).toHaveLength(1);
    await collect(new Agent({ model: scriptedModel(["ok"]) }).chat(resume(), { session }));
    await session.say(words("once"), { id: "client-1" });
    expect(session.state.inbox).toHaveLength(0);
  });

  test("cannot reach a run that is not live", async () => {
    await expect(Session.inMemory().say(words("x"), { run: "gone" })).rejects.toMatchObject({ code: "no-run" });
  });

  test("can come from a user through a tool", async () => {
    const session = Session.inMemory();
    const phone = defineTool({
      name: "phone",
      description: "",
      input: { type: "object" },
      effects: "none",
      execute: async (_, { interject }) => {
        await interject("They called: it is urgent.");
        return "rang";
      },
    });
    await new Agent({ model: scriptedModel([[call("phone")], "Hurrying."]), tools: [phone] }).send("Go", { session });
    expect(lines(session)).toEqual(["Go", "", "They called: it is urgent.", "Hurrying."]);
  });
});

describe("notes on the tree", () => {
  test("a label, a star and a removal that can be undone; content and order stay as they were", async () => {
    const session = Session.inMemory();
    const agent = new Agent({ model: scriptedModel(["a", "b"]) });
    await agent.send("one", { session });
    const [one, answer] = [...session.state.messages.keys()] as [string, string];
    await agent.send("two", { session });
    await session.notes.label(one, "start");
    await session.notes.star(answer, true);
    expect(session.state.messages.get(one)).toMatchObject({ label: "start" });
    expect(session.state.messages.get(answer)).toMatchObject({ starred: true });
    const before = structuredClone(session.state.messages);
    const two = session.state.children.get(answer)?.[0] as string;
    await session.notes.remove(two);
    expect(session.state.leaf).toBe(answer);
    await session.notes.restore(two);
    expect([...session.state.messages].map(([id, message]) => [id, textOf(message)])).toEqual(
      [...before].map(([id, message]) => [id, textOf(message)]),
    );
    await expect(session.notes.star("nowhere", true)).rejects.toMatchObject({ code: "no-message" });
  });

  test("a chat continues above a message that another caller removed during the chat", async () => {
    const session = Session.inMemory();
    const agent = new Agent({
      model: scriptedModel(["a", "b", "c"]),
      onTurn: async (_, same, turn) => {
        if (turn.text !== "b") return undefined;
        const second = [...session.state.messages.values()].find((message) => textOf(message) === "two");
        await session.notes.remove(second?.id ?? "");
        return same.chat(say("three"));
      },
    });
    await collect(agent.chat(say("one"), { session }));
    await collect(agent.chat(say("two"), { session }));
    expect(lines(session)).toEqual(["one", "a", "three", "c"]);
  });
});
