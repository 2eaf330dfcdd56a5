import { once } from "node:events";
import { testDatabase, whyNoPostgres } from "@banyan/store/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";
import { connected, serving, TOKEN } from "../testing/serving.ts";

const MODEL = ["--model", "demo/offline"];
const title = whyNoPostgres === undefined ? "" : ` (skipped: ${whyNoPostgres})`;

test("banyan nodes and serve say in one sentence what is wrong with a database, and exit as ever", async () => {
  using place = home();
  const run = (args: readonly string[]) => banyan(place, args);
  expect(await run(["nodes"])).toMatchObject({
    code: 2,
    stderr: "banyan: Name the database with --store or BANYAN_STORE.\n",
  });
  const secret = "postgres://me:hunter2-secret@127.0.0.1:1/db";
  for (const args of [
    ["nodes", "--store", secret],
    ["serve", ...MODEL, "--port", "0", "--store", secret],
  ]) {
    const { code, stderr } = await run(args);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^banyan: PostgreSQL at 127\.0\.0\.1:1\/db does not answer .*\n$/);
    expect(stderr).not.toContain("hunter2");
  }
  expect(await run(["serve", ...MODEL, "--drain", "3"])).toMatchObject({
    code: 2,
    stderr: "banyan: --drain needs --store.\n",
  });
  const restate = "restate=http://127.0.0.1:8080";
  for (const [args, stderr] of [
    [["--runs", restate], "--runs (or BANYAN_RUNS) needs --store."],
    [
      ["--store", secret, "--runs", "temporal"],
      "--runs must be restate=ADDRESS, such as restate=http://127.0.0.1:8080, not temporal.",
    ],
    [
      ["--store", secret, "--runs", `${restate}?listen=9080`],
      "--runs: restate's listen must be an address and a port such as 127.0.0.1:9080, not 9080.",
    ],
  ] as const)
    expect(await run(["serve", ...MODEL, ...args])).toMatchObject({ code: 2, stderr: `banyan: ${stderr}\n` });
});

describe.skipIf(whyNoPostgres !== undefined)(`banyan serve --store${title}`, () => {
  let database: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    database = await testDatabase();
  });
  afterAll(() => database.remove());

  async function on(place: Home, machine: string) {
    const more = [...MODEL, "--machine", machine, "--drain", "0"];
    const [server, address] = await serving(place, { BANYAN_STORE: database.url }, ...more);
    return { server, address, client: await connected(address) };
  }

  test("two servers share conversations; a machine's conversation opens only there; banyan nodes lists the owners", async () => {
    using place = home();
    const [one, other] = [await on(place, "a"), await on(place, "b")];
    const parts = [{ type: "text", text: "Hello" }] as const;
    await one.client.ask("conversation.create", { conversation: "shared" });
    expect(await one.client.ask("turn.say", { conversation: "shared", parts })).toMatchObject({ waits: false });
    await other.client.ask("conversation.rename", { conversation: "shared", title: "Ours" });
    const listed = await other.client.ask("conversation.list", {});
    expect(listed.conversations).toMatchObject([{ id: "shared", title: "Ours", labels: { machine: "a" } }]);

    const { stdout } = await banyan(place, ["nodes", "--store", database.url]);
    const lines = stdout.trim().split("\n");
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(
      new RegExp(
        `^${one.address}: lives, has 1 conversation open; banyan serve \\(process ${one.server.pid} on .*works as machine a\\)$`,
      ),
    );
    expect(lines[1]).toContain("has 0 conversations open");
    const listing = await banyan(place, ["nodes", "--store", database.url, "--conversations"]);
    expect(listing.stdout.split("\n").slice(0, 2)).toEqual([lines[0], "  shared: Ours"]);

    const ended = once(one.server, "close");
    one.server.kill("SIGTERM");
    await ended;
    const json = JSON.parse((await banyan(place, ["nodes", "--store", database.url, "-o", "json"])).stdout);
    expect(json).toMatchObject([{ address: other.address, machine: "b", conversations: 0 }]);
    const feed = await fetch(`${other.address}/api/v1/conversations/shared/feed`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect(await feed.json()).toMatchObject({
      error: { code: "locked", message: expect.stringContaining("belongs to machine a, whose files it uses") },
    });
  });
});
