import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Event } from "@banyan/core";
import type { EventBody } from "@banyan/core/conversation";
import { sqliteStore } from "@banyan/store/sqlite";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ConversationDirectory } from "../conversations/conversation-directory.ts";
import { openHost } from "../host/open-host.ts";

const DAY = 86_400_000;

let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "banyan-tidy-")));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const env = () => ({ BANYAN_HOME: join(home, "own"), BANYAN_NO_DISCOVERY: "1" });

/** Starts with these settings. Returns the notices, and the remaining conversations once `done` holds. */
async function start(settings: object, done = () => {}) {
  const file = join(home, "own/config/settings.json");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ sandbox: { enabled: "off" }, ...settings }));
  const host = await openHost({ cwd: home, home, env: env(), flags: { model: "demo/offline" }, canAsk: true });
  const { notices } = host;
  const titles = (await host.listConversations()).map(({ title }) => title).sort();
  await vi.waitFor(done, { timeout: 30_000 });
  await host.close();
  return { notices, titles };
}

/** A conversation that was last written this many days ago. */
async function conversation(title: string, daysAgo: number, mark?: Partial<Event>): Promise<string> {
  await using directory = new ConversationDirectory({ env: env(), home });
  const id = `conversation${title.toLowerCase().replaceAll(" ", "")}`;
  const at = Date.now() - daysAgo * DAY;
  const events = [
    { type: "conversation.created", id, labels: { cwd: home } },
    { type: "message.added", message: "m1", parentId: null, role: "user", parts: [{ type: "text", text: title }] },
    ...(mark ? [{ ...mark, message: "m1" }] : []),
  ].map((event, index) => ({ ...event, seq: index + 1, epoch: 1, at }) as Event);
  return await directory.bringIn({ id, events });
}

test("B64: conversations without messages for so many days are removed and named; open or marked ones stay", async () => {
  await conversation("Young", 29);
  await conversation("Old", 31);
  await conversation("Older", 400);
  await conversation("Starred", 400, { type: "message.starred", starred: true });
  await conversation("Not starred any more", 500, { type: "message.starred", starred: false });
  await conversation("Labelled", 400, { type: "message.labelled", label: "release" });
  const elsewhere = sqliteStore({ directory: join(home, "own/data") });
  const log = await elsewhere.open(await conversation("Open", 400));
  const { notices, titles } = await start({ retention: { days: 30 } });
  expect(titles).toEqual(["Labelled", "Open", "Starred", "Young"]);
  expect(notices).toEqual([
    "Removed conversations without a new message for 30 days (retention.days): “Old”, “Older”, and “Not starred any more”.",
  ]);
  await log.close();
  await elsewhere.close();
  expect(await start({ retention: { days: 30 } })).toMatchObject({ titles: ["Labelled", "Starred", "Young"] });
});

test("F72: a conversation with a question for a user stays, however old the question is", async () => {
  await conversation("Old", 400);
  const store = sqliteStore({ directory: join(home, "own/data") });
  const log = await store.open("waiting", { create: true });
  const at = Date.now() - 400 * DAY;
  const run = { agent: "a", model: "m", settings: {}, limits: {}, mode: "chat", instructions: "", tools: "" } as const;
  const usage = { input: 0, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 };
  const bodies: EventBody[] = [
    { type: "conversation.created", id: "waiting", labels: { cwd: home } },
    { type: "message.added", message: "m1", parentId: null, role: "user", parts: [{ type: "text", text: "Waiting" }] },
    { type: "run.started", run: "r1", ...run, leaf: "m1" },
    { type: "message.started", message: "m2", parentId: "m1", run: "r1", model: "m" },
    { type: "message.completed", message: "m2", parts: [{ type: "call", call: "c1" }], finish: "calls", usage },
    { type: "call.pending", message: "m2", call: "c1", tool: "t", inputText: "{}" },
    { type: "call.approval-requested", message: "m2", call: "c1", question: "q1" },
  ];
  await log.append(bodies.map((body, index): Event => ({ ...body, seq: index + 1, epoch: log.epoch, at })));
  await log.close();
  await store.close();
  expect(await start({ retention: { days: 30 } })).toMatchObject({ titles: ["Waiting"] });
});

test("B64: without the setting, all conversations stay without a notice", async () => {
  await conversation("Old", 4000);
  expect(await start({})).toEqual({ notices: [], titles: ["Old"] });
});

test("B64: a running host removes conversations that become too old", async () => {
  await conversation("Old", 31);
  await conversation("Middle", 29.5);
  await conversation("Young", 5);
  const file = join(home, "own/config/settings.json");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ sandbox: { enabled: "off" }, retention: { days: 30 } }));
  const host = await openHost({ cwd: home, home, env: env(), flags: { model: "demo/offline" }, canAsk: true });
  try {
    expect(host.notices.join()).toContain("“Old”.");
    expect(await host.tidy()).toEqual([]);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + DAY });
    expect(await host.tidy()).toEqual([
      "Removed conversations without a new message for 30 days (retention.days): “Middle”.",
    ]);
    expect((await host.listConversations()).map(({ title }) => title)).toEqual(["Young"]);
  } finally {
    vi.useRealTimers();
    await host.close();
  }
});

test("F8, B64: a conversation that cannot be read stays, and stops no other removal", async () => {
  const damaged = await conversation("Damaged", 400);
  await conversation("Old", 400);
  const file = join(home, "own/data/conversations", `${damaged}.sqlite`);
  writeFileSync(file, "no database");
  utimesSync(file, 1, 1);
  await start({ retention: { days: 30 } });
  expect(existsSync(file)).toBe(true);
  expect((await start({})).titles).toHaveLength(1);
});

test("the previous content of a changed file is kept for 30 days, and no longer than its conversation", async () => {
  const folder = join(home, "own/data/backups");
  mkdirSync(folder, { recursive: true });
  const keep = (digit: string, daysAgo: number) => {
    const file = join(folder, digit.repeat(64));
    writeFileSync(file, "before");
    utimesSync(file, 0, (Date.now() - daysAgo * DAY) / 1000);
    return file;
  };
  const [old, middle, young] = [keep("1", 31), keep("2", 20), keep("3", 5)];
  const left = () => [old, middle, young].map((file) => existsSync(file));
  await start({}, () => expect(left()).toEqual([false, true, true]));
  await start({ retention: { days: 10 } }, () => expect(left()).toEqual([false, false, true]));
});
