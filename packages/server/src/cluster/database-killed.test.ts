import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import {
  failOver,
  killPostgres,
  makeFolder,
  makePairs,
  restartPostgres,
  startPair,
  startPostgres,
  whyNoPostgres,
  wireTo,
} from "@banyan/store/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { isDone, Nodes, say } from "../testing/nodes.fixture.ts";

const TURNS = 12;
const CRASHES = 5;
const FAIL_OVERS = 3;
const LONG = Boolean(process.env.BANYAN_LONG) && whyNoPostgres === undefined;

describe.skipIf(!LONG)(`servers whose database is killed, ${TURNS} turns in flight`, () => {
  test(`and started again ${CRASHES} times: what was acknowledged is there, all end, no effect is had twice`, async () => {
    const folder = ownFolder("postgres-servers");
    makeFolder(folder);
    let database = await startPostgres(folder);
    onTestFinished(() => killPostgres(database).catch(() => {}));
    const port = Number(new URL(database.url).port);
    const crash = await turnsThrough(database.url);
    for (let count = 0; count < CRASHES; count++)
      await crash(`crash ${count}`, async () => {
        await killPostgres(database);
        database = await restartPostgres(folder, port);
      });
  });

  test(`and its standby takes its place, ${FAIL_OVERS} times: what was acknowledged is there, all end, no effect is had twice`, async () => {
    const folder = ownFolder("postgres-pairs-of-servers");
    await makePairs(folder);
    for (let count = 0; count < FAIL_OVERS; count++) {
      const pair = await startPair(folder, `pair ${count}`);
      for (const server of [pair.primary, pair.standby]) onTestFinished(() => killPostgres(server).catch(() => {}));
      let { url } = pair.primary;
      const wire = await wireTo(() => Number(new URL(url).port));
      onTestFinished(() => wire[Symbol.dispose]());
      const crash = await turnsThrough(wire.via(url));
      await crash(`fail-over ${count}`, async () => {
        const up = wire.down();
        await failOver(pair);
        url = pair.standby.url;
        up();
      });
    }
  });
});

/** Two servers on a database. The result begins turns on one, runs `happens`, and checks on the other that all turns end. */
async function turnsThrough(url: string): Promise<(name: string, happens: () => Promise<void>) => Promise<void>> {
  const nodes = await Nodes.onOneDatabase({ url, remove: async () => {} });
  onTestFinished(() => nodes.remove());
  const [one, two] = [await nodes.start({ pace: 20 }), await nodes.start({ pace: 20 })];
  const [a, b] = [await nodes.client(one), await nodes.client(two)];
  return async (name, happens) => {
    const ids = Array.from({ length: TURNS }, (_, index) => `${name} turn ${index}`);
    const said = new Map<string, string | undefined>();
    for (const id of ids) {
      await a.ask("conversation.create", { conversation: id });
      said.set(id, (await a.ask("turn.say", { conversation: id, parts: say("go") })).message);
    }
    await sleep(Math.random() * 800);
    await happens();
    for (const id of ids) {
      await b.watch(id);
      const done = () => isDone(b, id);
      // The user resumes a turn that the crash ended, because its node is alive.
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
  };
}

function ownFolder(name: string): string {
  const folder = `${process.env.TMPDIR}-${name}`;
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
  return folder;
}
