import { once } from "node:events";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readArguments } from "../arguments.ts";
import { banyan, type Home, home, type Running, start } from "../testing/banyan.ts";

const MODEL = ["--model", "demo/offline"];

/** Runs `banyan serve` until it prints its address. */
async function serving(place: Home, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const server = start(place, ["serve", ...MODEL, ...args], { env });
  onTestFinished(() => void server.kill("SIGKILL"));
  const said = { out: "", err: "" };
  server.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    said.out += chunk;
  });
  server.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    said.err += chunk;
  });
  while (!said.out.includes("Ctrl-C stops")) await once(server.stdout, "data");
  const [page = "", address = "", token = ""] = /Open (http:\S+)\/\?token=(\S+)/.exec(said.out) ?? [];
  return { server, said, page, address, token };
}

async function stopped(server: Running): Promise<unknown> {
  // Its last output may arrive after its exit.
  const close = once(server, "close");
  server.kill("SIGINT");
  return (await close)[0];
}

test("S1, S3: prints an address with a token that is kept for the user alone, and writes it nowhere else", async () => {
  using place = home();
  const first = await serving(place, ["--port", "0"]);
  expect(first.token).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(first.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const state = join(place.env.BANYAN_HOME ?? "", "state");
  const kept = join(state, "server-token");
  expect(readFileSync(kept, "utf8").trim()).toBe(first.token);
  expect(statSync(kept).mode & 0o777).toBe(0o600);
  const [record = ""] = readdirSync(join(state, "servers"));
  expect(statSync(join(state, "servers", record)).mode & 0o777).toBe(0o600);

  expect((await fetch(`${first.address}/api/v1/conversations`)).status).toBe(401);
  const headers = { authorization: `Bearer ${first.token}` };
  expect((await fetch(`${first.address}/api/v1/conversations`, { headers })).status).toBe(200);
  const page = await fetch(`${first.address}/?token=${first.token}`, { redirect: "manual" });
  expect([page.status, page.headers.get("location")]).toEqual([303, expect.stringMatching(/^\/sign-in#[\w-]{43}$/)]);
  expect(page.headers.get("location")).not.toContain(first.token);
  expect(await stopped(first.server)).toBe(0);
  expect(first.said.err).toContain("refused GET /api/v1/conversations");
  expect(first.said.err).not.toContain(first.token);
  expect(readdirSync(join(state, "servers"))).toEqual([]);

  const second = await serving(place, ["--port", "0"]);
  expect(second.token).toBe(first.token);
  const port = new URL(second.address).port;
  const taken = await banyan(place, ["serve", ...MODEL, "--port", port]);
  expect(taken).toMatchObject({
    code: 2,
    stderr: `banyan: Port ${port} is in use. Choose another port with --port, or 0 for a free port.\n`,
  });
});

test("the user's own token, a token for guests, and a notice of the listening address", async () => {
  using place = home();
  const env = { BANYAN_TOKEN: "a-token-of-ones-own", BANYAN_GUEST_TOKEN: "a-token-for-guests" };
  const { server, address, token, said } = await serving(place, ["--port", "0", "--host", "0.0.0.0"], env);
  expect(token).toBe(env.BANYAN_TOKEN);
  while (!said.err.includes("\n")) await once(server.stderr, "data");
  expect(said.err).toContain("Listening on 0.0.0.0: other machines can reach this server");
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:/);
  const ask = (secret: string, body: object) =>
    fetch(`${address}/api/v1/commands`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}` },
      body: JSON.stringify({ id: "0123456789", ...body }),
    });
  expect((await ask(env.BANYAN_TOKEN, { type: "conversation.create" })).status).toBe(200);
  expect((await ask(env.BANYAN_GUEST_TOKEN, { type: "conversation.list" })).status).toBe(200);
  expect((await ask(env.BANYAN_GUEST_TOKEN, { type: "conversation.create" })).status).toBe(403);
  const weak = await banyan(place, ["serve", ...MODEL, "--port", "0", "--token", "short"]);
  expect(weak).toMatchObject({ code: 2, stderr: expect.stringContaining("at least 16 letters") });
  const same = await banyan(place, ["serve", ...MODEL, "--port", "0", "--guest-token", env.BANYAN_TOKEN], {
    env: { BANYAN_TOKEN: env.BANYAN_TOKEN },
  });
  expect(same).toMatchObject({ code: 2, stderr: expect.stringContaining("must differ from the token") });
});

test("the command line of serve and attach", () => {
  expect(
    readArguments(["serve", "--port", "0", "--open", "--allow", "shell(ls)", "--allow-host", "box:80"]),
  ).toMatchObject({
    type: "serve",
    arguments: { port: 0, host: "127.0.0.1", open: true, allow: ["shell(ls)"], allowHost: ["box:80"] },
  });
  expect(readArguments(["serve", "--port", "65536"])).toMatchObject({ type: "mistake" });
  expect(readArguments(["serve", "now"])).toMatchObject({ type: "mistake" });
  expect(readArguments(["attach", "http://box:1", "-r", "oak"])).toMatchObject({
    type: "attach",
    arguments: { address: "http://box:1", resume: "oak", new: false, plain: false },
  });
  expect(readArguments(["attach", "-r", "oak", "--new"])).toMatchObject({ type: "mistake" });
});
