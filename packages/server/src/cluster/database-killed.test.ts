import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { killPostgres, makeFolder, restartPostgres, startPostgres, whyNoPostgres } from "@banyan/store/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { isDone, Nodes, say } from "../testing/nodes.fixture.ts";

const TURNS = 12;
const CRASHES = 5;
const LONG = Boolean(process.env.BANYAN_LONG) && whyNoPostgres === undefined;

describe.skipIf(!LONG)("servers whose database is killed", () => {
  test(`${TURNS} turns in flight, the database killed and started again ${CRASHES} times: what was acknowledged is there, all end, no effect is had twice`, async () => {
    const folder = `${process.env.TMPDIR}-postgres-servers`;
    makeFolder(folder);
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
    let database = await startPostgres(folder);
    onTestFinished(() => killPostgres(database).catch(() => {}));
    const port = Number(new URL(database.url).port);
    const nodes = await Nodes.onOneDatabase({ url: database.url, remove: async () => {} });
    onTestFinished(() => nodes.remove());
    const [one, two] = [await nodes.start({ pace: 20 }), await nodes.start({ pace: 20 })];
    const [a, b] = [await nodes.client(one), await nodes.client(two)];
    for (let crash = 0; crash < CRASHES; crash++) {
      const ids = Array.from({ length: TURNS }, (_, index) => `crash ${crash} turn ${index}`);
      const said = new Map<string, string | undefined>();
      for (const id of ids) {
        await a.ask("conversation.create", { conversation: id });
        said.set(id, (await a.ask("turn.say", { conversation: id, parts: say("go") })).message);
      }
      await sleep(Math.random() * 800);
      await killPostgres(database);
      database = await restartPostgres(folder, port);
      for (const id of ids) {
        await b.watch(id);
        const done = () => isDone(b, id);
        // A turn that the crash ended is gone on with by who asks for it: its node lives.
        const ended = await b.until(() => done() || b.mirrors.get(id)?.state.runs.size === 0);
        expect(ended).toBe(true);
        if (!done()) await b.ask("turn.resume", { conversation: id }).catch(() => {});
        await b.until(done);
        await b.ask("conversation.rename", { conversation: id, title: "Done" });
        const { events, wrong } = await nodes.stored(id);
        expect(wrong, id).toEqual([]);
        expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
        expect(events.some((event) => event.type === "message.added" && event.message === said.get(id))).toBe(true);
      }
      expect(new Set(nodes.acts).size).toBe(nodes.acts.length);
    }
  });
});
