import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Event, emptyConversation, reduce, type Store } from "@banyan/core";
import type { EventBody } from "@banyan/core/conversation";
import { survivesProcess } from "@banyan/core/stores";
import { describe, expect, onTestFinished, test } from "vitest";
import { ASKS } from "./log/summary.ts";
import { memoryStore } from "./memory/index.ts";
import { postgresStore } from "./postgres/index.ts";
import { sqliteStore } from "./sqlite/index.ts";
import { fileOf, ID } from "./sqlite/store.fixture.ts";
import { superuser, testDatabase, whyNoPostgres } from "./testing/index.ts";

const ROUNDS = process.env.BANYAN_LONG ? 300 : 8;

/** Returns random numbers; the same seed gives the same numbers. */
function random(seed: number): (below: number) => number {
  let state = seed + 1;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const CALLS = ["c0", "c1", "c2", "c3"];

function beginning(id: string): EventBody[] {
  const parts = CALLS.map((call) => ({ type: "call", call }) as const);
  const usage = { input: 0, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 };
  const run = { agent: "a", model: "m", settings: {}, limits: {}, mode: "chat", instructions: "", tools: "" } as const;
  return [
    { type: "conversation.created", id, labels: {} },
    { type: "message.added", message: "m1", parentId: null, role: "user", parts: [{ type: "text", text: "Hi" }] },
    { type: "run.started", run: "r1", ...run, leaf: "m1" },
    { type: "message.started", message: "m2", parentId: "m1", run: "r1", model: "m" },
    { type: "message.completed", message: "m2", parts, finish: "calls", usage },
    ...CALLS.map((call): EventBody => ({ type: "call.pending", message: "m2", call, tool: "t", inputText: "{}" })),
  ];
}

/** Returns a random event about questions. */
function happening(pick: (below: number) => number, count: number, asked: string[], calls: string[]): EventBody {
  // A call with a result asks no question.
  const call = calls[pick(calls.length)] ?? "";
  const question = `q${count}`;
  const old = asked[pick(Math.max(1, asked.length))] ?? "none";
  const ask = (body: EventBody): EventBody => {
    asked.push(question);
    return body;
  };
  switch (pick(11)) {
    case 0:
    case 1:
      return ask({
        type: "call.approval-requested",
        message: "m2",
        call,
        question,
        ...(pick(4) === 0 && { survives: false }),
      });
    case 2:
      return ask({
        type: "question.asked",
        message: "m2",
        call,
        question,
        text: "?",
        ...(pick(3) > 0 && { survives: true }),
      });
    case 3:
      return ask({ type: "run.paused", run: "r1", question, reason: "The turn reached a limit." });
    case 4:
      return { type: "call.approval-resolved", message: "m2", call, question: old, allowed: true };
    case 5:
      return { type: "question.answered", question: old };
    case 6:
      return { type: "run.continued", run: "r1", question: old, allowed: true };
    case 7:
      return { type: "title.changed", title: `A title ${count}` };
    case 8:
      return { type: "message.labelled", message: "m1", label: `l${count}` };
    case 9:
      if (calls.length > 1) calls.splice(calls.indexOf(call), 1);
      else return { type: "model.changed", model: "a/b" };
      return { type: "call.cancelled", message: "m2", call, tool: "t", output: "" };
    default:
      return { type: "model.changed", model: "a/b" };
  }
}

interface TestedStore {
  readonly store: Store;
  /** Leaves rows like a program that appends without noting questions: as they were at the last call, or at first. */
  forget?(): Promise<void>;
}

const STORES: Readonly<Record<string, () => Promise<TestedStore>>> = {
  memory: async () => ({ store: memoryStore() }),
  SQLite: async () => {
    const directory = mkdtempSync(join(tmpdir(), "banyan-questions-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    return { store: sqliteStore({ directory }) };
  },
  ...(whyNoPostgres === undefined && {
    PostgreSQL: async () => {
      const { url, remove } = await testDatabase();
      onTestFinished(remove);
      const store = postgresStore(url);
      await store.list();
      await superuser(url, "CREATE TABLE kept AS SELECT number, questions, questions_seq FROM banyan.conversations");
      return {
        store,
        forget: () =>
          superuser(
            url,
            `CREATE TABLE now AS SELECT number, questions, questions_seq FROM banyan.conversations;
            UPDATE banyan.conversations SET questions = '[]', questions_seq = 0 WHERE number NOT IN (SELECT number FROM kept);
            UPDATE banyan.conversations AS c SET questions = k.questions, questions_seq = k.questions_seq
              FROM kept AS k WHERE k.number = c.number;
            DROP TABLE kept; ALTER TABLE now RENAME TO kept`,
          ),
      };
    },
  }),
};

describe.each(Object.keys(STORES))("F72: a list of conversations names what waits for a user (%s)", (name) => {
  test("whatever was asked and answered in a log, and whether it is open or not", async () => {
    const { store, forget } = await (STORES[name] as () => Promise<TestedStore>)();
    onTestFinished(() => store.close());
    for (let round = 0; round < ROUNDS; round++) {
      const pick = random(round);
      const id = `c${round}`;
      const state = emptyConversation(id);
      let log = await store.open(id, { create: true });
      let seq = 0;
      const write = async (...bodies: readonly EventBody[]) => {
        const events = bodies.map((body): Event => ({ ...body, seq: ++seq, epoch: log.epoch, at: 1_000 + seq }));
        await log.append(events);
        for (const event of events) reduce(state, event);
      };
      await write(...beginning(id));
      const asked: string[] = [];
      const calls = [...CALLS];
      for (let count = 0; count < 12; count++) {
        await write(happening(pick, count, asked, calls));
        if (pick(4) > 0) continue;
        await log.close();
        if (pick(2) === 0) await forget?.();
        if (pick(2) === 0) log = await store.open(id);
        const waiting = [...state.questions.values()].filter(survivesProcess).map((question) => question.id);
        const listed = (await store.list()).find((summary) => summary.id === id);
        expect(listed?.questions ?? [], `round ${round}, after ${count}`).toEqual(waiting);
        log = await store.open(id, { take: true });
      }
      await log.close();
    }
  });
});

test("F74: opening a file replaces the index of questions that earlier versions made, and summaries use the new index", async () => {
  const directory = mkdtempSync(join(tmpdir(), "banyan-questions-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const indexes = (use: (database: DatabaseSync) => void = () => {}) => {
    using database = new DatabaseSync(fileOf(directory));
    use(database);
    const names = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'index' ORDER BY name").all();
    const plan = database.prepare(`EXPLAIN QUERY PLAN SELECT seq FROM events WHERE ${ASKS} ORDER BY seq`).all();
    return { names: names.map(({ name }) => name), plan: JSON.stringify(plan) };
  };
  const open = async () => {
    const store = sqliteStore({ directory });
    const log = await store.open(ID, { create: true });
    if (log.seq === 0)
      await log.append([{ type: "conversation.created", id: ID, labels: {}, at: 1, seq: 1, epoch: log.epoch }]);
    await log.close();
    await store.close();
  };
  await open();
  const old = "type IN ('call.approval-requested', 'question.asked', 'run.paused')";
  const before = indexes((database) => {
    database.exec(`DROP INDEX asking; CREATE INDEX questions ON events (seq) WHERE ${old}`);
  });
  expect(before.names).toContain("questions");
  await open();
  const after = indexes();
  expect(after.names).toEqual(["asking", "titles"]);
  expect(after.plan).toContain("USING INDEX asking");
});
