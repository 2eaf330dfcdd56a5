import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@banyan/client";
import {
  killPostgres,
  type LocalPostgres,
  makeFolder,
  startPostgres,
  superuser,
  whyNoPostgres,
} from "@banyan/store/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { banyan, home } from "../testing/banyan.ts";
import { connected, serving } from "../testing/serving.ts";

const disk = `${process.env.TMPDIR}-small-disk`;
const why = whyNoPostgres ?? whyNoDisk();

/** A disk of 8 MB, which only the superuser can create. */
function whyNoDisk(): string | undefined {
  if (!process.env.BANYAN_LONG) return "in long mode only";
  mkdirSync(disk, { recursive: true });
  const { status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=8m", "none", disk], { encoding: "utf8" });
  return status === 0 ? undefined : `no small disk can be made: ${stderr.trim()}`;
}

describe.skipIf(why !== undefined)(
  `a database whose disk is full${why === undefined ? "" : ` (skipped: ${why})`}`,
  () => {
    const folder = `${process.env.TMPDIR}-postgres-full`;
    let database: LocalPostgres;

    beforeAll(async () => {
      makeFolder(folder);
      database = await startPostgres(folder, ["-c", "fsync=off"]);
      spawnSync("chown", ["--reference", join(folder, "data"), disk]);
      await superuser(database.url, `CREATE TABLESPACE small LOCATION '${disk}'`);
      await superuser(database.url, "ALTER DATABASE postgres SET default_tablespace = small");
    });
    afterAll(async () => {
      await killPostgres(database);
      spawnSync("umount", [disk]);
      for (const place of [folder, disk]) rmSync(place, { recursive: true, force: true, maxRetries: 20 });
    });

    test("a full database refuses writes with a sentence, can be read, and continues when there is space", async () => {
      using place = home();
      const { url } = database;
      const [server, address] = await serving(place, { BANYAN_STORE: url }, "--model", "demo/offline");
      const client = await connected(address);
      await client.ask("conversation.create", { conversation: "before" });
      await turn(client, "before");

      await superuser(url, "CREATE TABLE filler (text text)");
      await expect(superuser(url, FILL)).rejects.toMatchObject({ code: "53100" });
      await client.ask("conversation.create", { conversation: "full" });
      const long = [{ type: "text", text: "Hello ".repeat(20_000) }] as const;
      await expect(client.ask("turn.say", { conversation: "full", parts: long })).rejects.toThrow(
        /has no disk space left .*free some space on that server and try again/,
      );
      expect((await client.ask("conversation.list", {})).conversations).toMatchObject([{ id: "before", running: 0 }]);
      expect((await banyan(place, ["nodes", "--store", url])).stdout).toContain(`${address}: lives`);

      await superuser(url, "DROP TABLE filler");
      // A checkpoint frees the space of dropped tables.
      await superuser(url, "CHECKPOINT");
      await turn(client, "before");
      await turn(client, "full");
      expect(server.exitCode).toBeNull();
    });
  },
);

/** Inserts rows, one per transaction, until the disk is full. */
const FILL = `DO $$ BEGIN LOOP
  INSERT INTO filler SELECT string_agg(md5(random()::text), '') FROM generate_series(1, 60);
  COMMIT;
END LOOP; END $$`;

async function turn(client: Client, conversation: string): Promise<void> {
  await client.ask("turn.say", { conversation, parts: [{ type: "text", text: "Hello" }] });
  const listed = async () =>
    (await client.ask("conversation.list", {})).conversations.find(({ id }) => id === conversation);
  await expect.poll(listed).toMatchObject({ running: 0 });
}
