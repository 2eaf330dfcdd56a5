import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StoreError } from "@banyan/core";
import { expect, test } from "vitest";
import { events } from "../sqlite/store.fixture.ts";
import { superuser } from "../testing/postgres-server.fixture.ts";
import { isPostgresUrl, postgresStore } from "./index.ts";
import { describeWithPostgres, ownDatabase, storeAt } from "./store.fixture.ts";

const SECRET = "hunter2-secret";

test("an address that can be none is refused in one sentence, without a password", () => {
  const no = join(tmpdir(), "no-certificate.pem");
  for (const [url, why] of [
    ["", "is not an address"],
    ["mysql://a@b/c", "is not an address"],
    [`postgres://me:${SECRET}@host:port/db`, "is not an address"],
    [`postgres://me:${SECRET}@host/`, "names no database"],
    ["postgres://host/db", "names no user"],
    [`postgres://me:${SECRET}@host/db?sslmode=prefer`, "sslmode must be one of"],
    [`postgres://me:${SECRET}@host/db?ssl=true`, '"ssl" is not a known setting'],
    [`postgres://me:${SECRET}@host/db?sslmode=verify-full&sslrootcert=${no}`, "cannot be read (ENOENT)"],
    [`postgres://me:${SECRET}@host/db?sslrootcert=${no}`, "sslmode uses none"],
  ] as const) {
    let refusal: unknown;
    try {
      postgresStore(url);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(StoreError);
    expect(refusal).toMatchObject({ code: "unusable", message: expect.stringContaining(why) });
    expect(String(refusal)).not.toContain(SECRET);
  }
  expect(["postgres://x", "postgresql://x", "/data", "sqlite:x"].map(isPostgresUrl)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

describeWithPostgres("a database that cannot be used", () => {
  const database = ownDatabase();

  test("is told in one sentence that says what to do, at once, and never with a password", async () => {
    const url = new URL(await database.url());
    const schema = { schema: "refused" };
    const refusals: readonly (readonly [change: Partial<URL>, why: string])[] = [
      [{ port: "1" }, "does not answer"],
      [{ hostname: "no-such-host.invalid" }, "No host was found for"],
      [{ pathname: "/none" }, "no such database"],
      [{ username: "nobody" }, "rejects the user nobody"],
      [{ search: "?sslmode=require" }, "cannot be secured"],
    ];
    for (const [change, why] of refusals) {
      const wrong = Object.assign(new URL(url), { password: SECRET }, change);
      const refusal = await storeAt(wrong.href, schema)
        .list()
        .catch((error: unknown) => error);
      expect(refusal).toMatchObject({ code: "unusable", message: expect.stringContaining(why) });
      expect(`${refusal} ${(refusal as Error).cause}`).not.toContain(SECRET);
    }
  });

  test("a user without rights is told which to ask for", async () => {
    const url = new URL(await database.url());
    await superuser(url.href, "CREATE ROLE reader LOGIN");
    url.username = "reader";
    await expect(storeAt(url.href, { schema: "forbidden" }).list()).rejects.toMatchObject({
      code: "unusable",
      message: expect.stringMatching(
        /denies user reader a needed permission .*; grant that user CREATE on the database/,
      ),
    });
  });

  test("tables of a newer program are refused with a sentence, and left as they are", async () => {
    const url = await database.url();
    const schema = "newer";
    await storeAt(url, { schema }).list();
    await superuser(url, "UPDATE newer.schema_version SET version = 1000");
    await expect(storeAt(url, { schema }).list()).rejects.toMatchObject({
      code: "unusable",
      message: expect.stringMatching(
        /are of version 1000, but this program knows only versions up to \d+\. Update this program/,
      ),
    });
  });

  test("of many that make the tables at once, one does, and all go on", async () => {
    const url = await database.url();
    const stores = Array.from({ length: 6 }, () => storeAt(url, { schema: "at once", connections: 1 }));
    expect(await Promise.all(stores.map((store) => store.list()))).toEqual(stores.map(() => []));
  });

  test("a database that takes no writes any more refuses an append, and keeps what it has", async () => {
    const url = await database.url();
    const store = storeAt(url, { schema: "read only", connections: 1 });
    const log = await store.open("a", { create: true });
    await log.append(events(log, 1));
    const { pathname } = new URL(url);
    await superuser(url, `ALTER DATABASE ${pathname.slice(1)} SET default_transaction_read_only = on`);
    const later = storeAt(url, { schema: "read only" });
    await expect(later.open("b", { create: true })).rejects.toMatchObject({
      code: "unusable",
      message: expect.stringContaining("accepts no writes now"),
    });
    expect(await later.list()).toHaveLength(1);
    await superuser(url.replace(pathname, "/postgres"), `ALTER DATABASE ${pathname.slice(1)} RESET ALL`);
  });

  test("a database that is full refuses an append as such, keeps what it has, and goes on when there is room", async () => {
    const url = await database.url();
    const store = storeAt(url, { schema: "full" });
    const log = await store.open("a", { create: true });
    await log.append(events(log, 2), { durable: true });
    // The server's error when a file cannot grow.
    await superuser(
      url,
      `CREATE FUNCTION "full".no_room() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
      CREATE TRIGGER no_room BEFORE INSERT ON "full".events EXECUTE FUNCTION "full".no_room()`,
    );
    await expect(Promise.resolve(log.append(events(log, 1)))).rejects.toMatchObject({
      code: "full",
      message: expect.stringMatching(/has no disk space left .* free some space on that server and try again/),
    });
    expect(log.seq).toBe(2);
    await superuser(url, `DROP TRIGGER no_room ON "full".events`);
    await log.append(events(log, 1));
    const read: number[] = [];
    for await (const batch of log.read()) read.push(...batch.map(({ seq }) => seq));
    expect(read).toEqual([1, 2, 3]);
  });

  test("a row that is not what was written is passed over and told, and hides no other", async () => {
    const url = await database.url();
    const store = storeAt(url, { schema: "damaged" });
    const log = await store.open("a", { create: true });
    await log.append(events(log, 5));
    await superuser(
      url,
      "UPDATE damaged.events SET body = '{}' WHERE seq = 2; DELETE FROM damaged.events WHERE seq = 4",
    );
    const read: number[] = [];
    for await (const batch of log.read()) read.push(...batch.map(({ seq }) => seq));
    expect(read).toEqual([1, 3, 5]);
    expect(log.damage).toEqual([
      "Event 2 of conversation a is damaged and was skipped.",
      "Event 4 of conversation a is damaged and was skipped.",
    ]);
  });

  test("a certificate that is not believed is told as such", async () => {
    const file = join(tmpdir(), "other-authority.pem");
    writeFileSync(file, "no certificate");
    const url = `${await database.url()}?sslmode=verify-full&sslrootcert=${file}`;
    await expect(storeAt(url).list()).rejects.toMatchObject({
      code: "unusable",
      message: expect.stringContaining("cannot be secured"),
    });
  });
});
