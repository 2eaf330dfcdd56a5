import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Client, type WatchedConversation } from "@banyan/client";
import { Agent, type AgentOptions, createId, Session, say as saying } from "@banyan/core";
import { scriptedModel, stall, text } from "@banyan/core/testing";
import { sqliteStore } from "@banyan/store/sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { Desk } from "../desk.ts";
import { hostOf } from "../testing/served-host.fixture.ts";
import { Beginnings } from "./beginnings.ts";
import { LiveChats } from "./live-chats.ts";

const say = (text: string) => [{ type: "text", text }] as const;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Returns a new directory that is removed when the test ends. */
function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "banyan-desk-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A user at a desk of this process. */
async function talking(options: AgentOptions) {
  const store = sqliteStore({ directory: temporaryDirectory() });
  const defects: unknown[] = [];
  const desk = new Desk({ host: hostOf(store, options).host, defect: (error) => defects.push(error) });
  const client = new Client(desk.link({ shares: true }));
  onTestFinished(async () => {
    client.close();
    await desk.stop();
    await store.close();
    expect(defects).toEqual([]);
  });
  await client.connected();
  const { conversation } = await client.ask("conversation.create", {});
  const watched = await client.watch(conversation).loaded;
  const { session } = await desk.conversations.open(conversation);
  const ends: string[] = [];
  watched.follow({ item: (item) => item.type === "run.ended" && ends.push(item.run), renewed() {}, stands() {} });
  /** Resolves when `count` turns have ended, in the tick in which the client learns it. */
  const ended = (count: number) => holds(watched, () => ends.length >= count);
  const said = () =>
    [...session.state.messages.values()].map(({ parts: [part] }) => part?.type === "text" && part.text);
  return { desk, client, conversation, watched, session, ended, said, chats: () => desk.chats.of(session) };
}

/** Waits until a conversation meets a condition. */
function holds(watched: WatchedConversation, is: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = () => {
    if (is()) resolve();
  };
  const stop = watched.follow({ item: look, renewed: look, stands: look });
  look();
  return promise.finally(stop);
}

describe("B12: a user's message at a desk is the directive that a turn handler returns", () => {
  test("B12: one stream runs all prompts of a branch: messages, retries, resumes, also after a summary and an interrupt", async () => {
    const model = scriptedModel((_, index) => (index === 4 ? [text("Fi"), stall()] : `${index}.`));
    const { client, conversation, session, ended, said, chats } = await talking({ model });
    let turns = 0;
    const next = async () => {
      // Immediately after the end of the run, before the handler can run.
      await ended(++turns);
      expect(chats()).toEqual([first]);
    };
    await client.ask("turn.say", { conversation, parts: say("a") });
    const first = chats()[0]!;
    await next();
    await client.ask("turn.say", { conversation, parts: say("b") });
    await next();
    await client.ask("turn.retry", { conversation, parts: say("c"), at: session.state.leaf! });
    await next();
    await client.ask("branch.compact", { conversation, at: session.state.leaf! });
    await ended(turns);
    await client.ask("turn.say", { conversation, parts: say("d"), at: session.state.leaf! });
    await expect.poll(() => model.asked).toBe(5);
    await client.ask("run.interrupt", { conversation });
    await next();
    await client.ask("turn.resume", { conversation, at: session.state.leaf! });
    await next();
    expect(said().slice(-3)).toEqual(["d", "Fi", "5."]);
    // Between two turns the branch is free.
    await session.hold(session.state.leaf, () => {});
  });

  test("simultaneous prompts run in their order, in one stream", async () => {
    const { client, conversation, ended, said, chats } = await talking({ model: scriptedModel(["1.", "2.", "3."]) });
    await client.ask("turn.say", { conversation, parts: say("a") });
    await ended(1);
    const first = chats();
    const [second, third] = [
      client.ask("turn.say", { conversation, parts: say("b") }),
      client.ask("turn.say", { conversation, parts: say("c") }),
    ];
    await Promise.all([second, third]);
    await ended(3);
    expect(said()).toEqual(["a", "1.", "b", "2.", "c", "3."]);
    expect(chats()).toContain(first[0]);
  });

  test("each branch has a stream of its own, and continues with this stream", async () => {
    const { client, conversation, session, ended, chats } = await talking({
      model: scriptedModel((_, index) => `${index}.`),
    });
    await client.ask("turn.say", { conversation, parts: say("a") });
    await ended(1);
    const [here, root] = [session.state.leaf!, session.state.children.get(null)![0]!];
    await client.ask("turn.retry", { conversation, parts: say("b"), at: root });
    await ended(2);
    const there = session.state.leaf!;
    const [first, second, ...others] = chats();
    expect([first?.leaf, second?.leaf, others]).toEqual([here, there, []]);
    for (const at of [here, there]) {
      const before = chats().length;
      await client.ask("turn.say", { conversation, parts: say("more"), at });
      await ended(before + (at === here ? 1 : 2));
    }
    expect(chats()).toEqual([first, second]);
    expect(session.state.messages.get(first!.leaf!)!.parentId).toBe(session.state.children.get(here)![0]);
  });

  test("a stream continues at the end of the branch after its answer was removed", async () => {
    const { client, conversation, session, ended, chats, said } = await talking({
      model: scriptedModel(["1.", "2.", "3."]),
    });
    await client.ask("turn.say", { conversation, parts: say("a") });
    await ended(1);
    await client.ask("turn.say", { conversation, parts: say("b") });
    await ended(2);
    const before = chats();
    await session.notes.remove([...session.state.messages.values()][2]!.id);
    await client.ask("turn.say", { conversation, parts: say("c") });
    await ended(3);
    expect(chats()).toEqual(before);
    expect(said()).toEqual(["a", "1.", "b", "2.", "c", "3."]);
    expect([...session.state.messages.values()][4]!.parentId).toBe([...session.state.messages.keys()][1]);
  });

  test("the turn handler of each agent, also after a handover, decides before the user", async () => {
    const asked: string[] = [];
    const other = new Agent({ name: "other", model: scriptedModel(["Handed over.", "Never."]) });
    const { client, conversation, said, ended, chats } = await talking({
      model: scriptedModel(["Mine.", "Thanks."]),
      onTurn: (_, agent, turn) => {
        asked.push(`${agent.name}: ${turn.text}`);
        return turn.text === "Mine." ? other.chat(saying("Yours?")) : undefined;
      },
    });
    await client.ask("turn.say", { conversation, parts: say("a") });
    await ended(2);
    await client.ask("turn.say", { conversation, parts: say("b") });
    await ended(3);
    expect(said()).toEqual(["a", "Mine.", "Yours?", "Handed over.", "b", "Thanks."]);
    await expect.poll(() => asked).toEqual(["banyan: Mine.", "banyan: Thanks."]);
    expect(chats()).toHaveLength(1);
  });

  test("a user's message does not wait for a slow turn handler", async () => {
    const never = new Promise<undefined>(() => {});
    const { client, conversation, said, ended } = await talking({
      model: scriptedModel(["1.", "2."]),
      onTurn: () => never,
    });
    await client.ask("turn.say", { conversation, parts: say("a") });
    await ended(1);
    await client.ask("turn.say", { conversation, parts: say("b") });
    await ended(2);
    expect(said()).toEqual(["a", "1.", "b", "2."]);
  });

  test("an impossible command is refused with the reason, and the next message works", async () => {
    const { client, conversation, ended, said } = await talking({ model: scriptedModel(["1.", "2."]) });
    await client.ask("turn.say", { conversation, parts: say("a") });
    await ended(1);
    await expect(client.ask("turn.resume", { conversation })).rejects.toThrow(
      "There is nothing to resume: the last answer is complete.",
    );
    await client.ask("turn.say", { conversation, parts: say("b") });
    await ended(2);
    expect(said()).toEqual(["a", "1.", "b", "2."]);
  });

  test("T1: an interrupt at any moment ends a prompt, and the next prompt works", async () => {
    const { client, conversation, session, watched, ended, said } = await talking({
      model: scriptedModel((_, index) => (index % 2 ? [text("so"), stall()] : "Yes.")),
    });
    await client.ask("turn.say", { conversation, parts: say("begin") });
    await ended(1);
    for (let moment = 0; moment < 24; moment++) {
      const asked = client.ask("turn.say", { conversation, parts: say(`prompt ${moment}`) }).then(
        () => "begun",
        (error: Error) => error.message,
      );
      for (let i = 0; i < moment; i++) await null;
      const { interrupted } = await client.ask("run.interrupt", { conversation });
      const outcome = await asked;
      expect([moment, interrupted, outcome === "begun" || outcome]).toEqual([moment, 1, expect.anything()]);
      await holds(watched, () => session.state.runs.size === 0);
      expect(said().includes(`prompt ${moment}`)).toBe(outcome === "begun");
    }
  });

  test("a waiting stream ends with its conversation or if many streams wait, and no message is lost", async () => {
    const defects: unknown[] = [];
    const chats = new LiveChats((error) => defects.push(error));
    const agent = new Agent({ model: scriptedModel(() => "Yes.") });
    const sessions = Array.from({ length: 300 }, () => Session.inMemory());
    const take = async (session: Session) => {
      using beginning = new Beginnings().of({ conversation: session.id, id: createId() });
      await chats.begin(session, { agent, directive: saying("And?"), id: createId(), client: "a test" }, beginning);
    };
    for (const session of sessions) await take(session);
    const waiting = () => sessions.filter((session) => chats.of(session).some(({ leaf }) => leaf !== undefined));
    await expect.poll(waiting).toEqual(sessions.slice(-256));
    await take(sessions[0]!);
    await expect.poll(() => sessions[0]!.state.messages.size).toBe(4);
    for (const session of sessions) await session.close();
    await expect.poll(() => sessions.flatMap((session) => chats.of(session))).toEqual([]);
    expect(defects).toEqual([]);
  });

  test("B8: a stream needs no more memory after 3,000 prompts", async () => {
    const chats = new LiveChats(() => {});
    const agent = new Agent({ model: scriptedModel(() => "Go on.") });
    const session = Session.inMemory({ window: 20 });
    const beginnings = new Beginnings();
    const heaps: number[] = [];
    for (let turn = 1; turn <= 3_000; turn++) {
      using beginning = beginnings.of({ conversation: session.id, id: createId() });
      await chats.begin(session, { agent, directive: saying("And?"), id: createId(), client: "a test" }, beginning);
      await session.hold(session.state.leaf, () => {}).catch(() => {});
      while (session.state.runs.size > 0) await new Promise(setImmediate);
      if (turn % 1_000 > 0) continue;
      collectGarbage();
      heaps.push(getHeapStatistics().used_heap_size);
    }
    expect(chats.of(session)).toHaveLength(1);
    // 64 bytes per message, less than a turn could leave behind.
    expect(heaps[2]! - heaps[1]!).toBeLessThan(1_000 * 64);
  });
});
