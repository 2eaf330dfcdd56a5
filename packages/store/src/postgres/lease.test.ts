import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { events, readAll } from "../sqlite/store.fixture.ts";
import { superuser } from "../testing/postgres-server.fixture.ts";
import { describeWithPostgres, ownDatabase, storeAt } from "./store.fixture.ts";

describeWithPostgres("processes that share a database", () => {
  const database = ownDatabase();

  test("F5 what one has open is refused to others, with the name of the one, and free when it is closed", async () => {
    const url = await database.url();
    const other = await writer(url, "shared");
    const store = storeAt(url);
    await expect(store.open("shared")).rejects.toMatchObject({
      code: "locked",
      process: other.child.pid,
      message: expect.stringMatching(new RegExp(`writer \\(process ${other.child.pid} on .*15 seconds`)),
    });
    await expect(store.remove("shared")).rejects.toMatchObject({ code: "locked" });
    expect((await store.view("shared")).isOpen).toBe(true);
    expect(await other.ask("append")).toBe("1");
    expect(await other.ask("close")).toBe("closed");
    const log = await store.open("shared");
    await log.append(events(log, 1));
    expect(await readAll(log)).toHaveLength(2);
  });

  test("F5 a process that was killed keeps nobody out when its lease is over, by the clock of the database", async () => {
    const url = await database.url();
    const other = await writer(url, "killed");
    await other.ask("append");
    other.child.kill("SIGKILL");
    await once(other.child, "close");
    const store = storeAt(url);
    await expect(store.open("killed")).rejects.toMatchObject({ code: "locked" });
    if (process.env.BANYAN_LONG) await until(() => store.open("killed"));
    else {
      await leaseIsOver(url, other.child);
      expect(await readAll(await store.open("killed"))).toHaveLength(1);
    }
  });

  test("F5 a process that slept until its lease was over writes nothing to what another one took meanwhile", async () => {
    const url = await database.url();
    const other = await writer(url, "asleep");
    await other.ask("append");
    other.child.kill("SIGSTOP");
    await leaseIsOver(url, other.child);
    const store = storeAt(url);
    const log = await store.open("asleep");
    await log.append(events(log, 3));
    other.child.kill("SIGCONT");
    expect(await other.ask("append")).toBe("stale");
    expect(await other.ask("durable")).toBe("stale");
    expect(await other.ask("rights")).toBe("stale");
    // Closing a lost conversation does not release it.
    expect(await other.ask("close")).toBe("closed");
    await expect(storeAt(url).open("asleep")).rejects.toMatchObject({ code: "locked" });
    await log.append(events(log, 1));
    expect((await readAll(log)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  });

  test("F5 a process that slept, and from whom nobody took anything, goes on", async () => {
    const url = await database.url();
    const other = await writer(url, "rested");
    other.child.kill("SIGSTOP");
    await leaseIsOver(url, other.child);
    other.child.kill("SIGCONT");
    expect(await other.ask("append")).toBe("1");
  });

  test("of many processes' worth of stores that open one conversation at once, one has it", async () => {
    const url = await database.url();
    const stores = Array.from({ length: 8 }, () => storeAt(url, { connections: 2 }));
    const opened = await Promise.allSettled(stores.map((store) => store.open("race", { create: true })));
    expect(opened.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("appends that wait at the same time share a transaction, and each has its own outcome", async () => {
    const url = await database.url();
    const store = storeAt(url);
    const ids = Array.from({ length: 40 }, (_, index) => `together${index}`);
    const logs = await Promise.all(ids.map((id) => store.open(id, { create: true })));
    const thief = await storeAt(url).open("together7", { take: true });
    const outcomes = await Promise.allSettled(logs.map((log) => log.append(events(log, 1), { durable: true })));
    expect(outcomes.flatMap(({ status }, index) => (status === "rejected" ? [index] : []))).toEqual([7]);
    await thief.append(events(thief, 1));
    await superuser(
      url,
      `DO $$ BEGIN ASSERT (SELECT count(DISTINCT e.xmin::text) FROM banyan.events e JOIN banyan.conversations c
        ON c.number = e.conversation WHERE c.id LIKE 'together%') < 10; END $$`,
    );
  });
});

interface Writer {
  readonly child: ChildProcess;
  /** Sends a word to the process. Returns its reply. */
  ask(word: string): Promise<string>;
}

/** Starts a process that has a conversation open. */
async function writer(url: string, id: string): Promise<Writer> {
  const program = `
    import { createInterface } from "node:readline";
    import { postgresStore } from ${JSON.stringify(import.meta.resolve("./index.ts"))};
    const store = postgresStore(${JSON.stringify(url)}, { program: "writer" });
    const log = await store.open(${JSON.stringify(id)}, { create: true });
    const event = () => ({ type: "title.changed", title: "t", seq: log.seq + 1, epoch: log.epoch, at: 1 });
    const words = {
      append: async () => { await log.append([event()]); return log.seq; },
      durable: async () => { await log.append([event()], { durable: true }); return log.seq; },
      rights: async () => { await log.rights.write({ rules: [], calls: {} }); return "written"; },
      close: async () => { await log.close(); return "closed"; },
    };
    console.log("open");
    for await (const word of createInterface({ input: process.stdin }))
      console.log(String(await words[word]().catch((error) => error.code)));
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe("open");
  return {
    child,
    async ask(word) {
      child.stdin.write(`${word}\n`);
      return String((await lines.next()).value);
    },
  };
}

/** Ends the lease, as if 15 seconds had passed in the database. */
async function leaseIsOver(url: string, { pid }: ChildProcess): Promise<void> {
  await superuser(url, `UPDATE banyan.nodes SET lease_until = now() - interval '1 second' WHERE process = ${pid}`);
}

async function until<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      expect(error).toMatchObject({ code: "locked" });
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}
