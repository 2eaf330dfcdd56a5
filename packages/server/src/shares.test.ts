import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createId } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { type CommandName, commands, rightFor } from "@banyan/protocol";
import { expect, test, vi } from "vitest";
import { KeptShares } from "./auth/kept-shares.ts";
import { doors } from "./http/app.ts";
import { openApi } from "./http/open-api.ts";
import { type Answered, ask } from "./testing/request.fixture.ts";
import { serving, TOKEN, temporaryDirectory } from "./testing/serving.fixture.ts";
import { proofOf, signIn } from "./testing/sign-in.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

const say = (text: string) => [{ type: "text", text }] as const;
const MINE = "what-is-mine";

/** A server with a shared conversation, and another conversation that contains `MINE`. */
async function shared(more: { readonly seconds?: number; readonly isBranch?: boolean; readonly state?: string } = {}) {
  const { server, store } = await serving(
    { model: scriptedModel(["One.", "Two.", "Three.", "Four.", "Five."]) },
    { ...(more.state !== undefined && { state: more.state }) },
  );
  const owner = await TestClient.connect(server);
  const talk = async (...texts: readonly string[]) => {
    const { conversation } = await owner.ask("conversation.create", {});
    await owner.watch(conversation);
    const said: string[] = [];
    for (const text of texts) {
      const { message } = await owner.ask("turn.say", { conversation, parts: say(text) });
      said.push(message);
      await owner.until(
        () =>
          owner.mirrors.get(conversation)?.state.runs.size === 0 &&
          owner.mirrors.get(conversation)?.state.messages.size === said.length * 2,
      );
    }
    return { conversation, said };
  };
  const other = await talk(MINE);
  const { conversation, said } = await talk("Hello", "And more");
  const leaf = more.isBranch ? { leaf: said[0] ?? "" } : {};
  const { seconds } = more;
  const made = await owner.ask("share.create", { conversation, ...leaf, ...(seconds !== undefined && { seconds }) });
  const bearer = { authorization: `Bearer ${made.token}` };
  return { server, store, owner, conversation, said, other: other.conversation, bearer, ...made };
}

const command = (address: string, headers: Record<string, string>, type: string, input: object) =>
  ask(address, "/api/v1/commands", {
    method: "POST",
    headers,
    body: JSON.stringify({ type, id: createId(), ...input }),
  });

/** A valid input per command, so that the sender's rights and not the form cause the refusal. */
const INPUTS: Readonly<Record<string, object>> = {
  "picture.read": { url: "http://127.0.0.1/a.png" },
  "conversation.watch": { on: true },
  "conversation.search": { query: MINE },
  "conversation.open": { named: MINE },
  "conversation.rename": { title: "x" },
  "conversation.export": { format: "json" },
  "conversation.import": { text: "{}" },
  "message.read": { messages: [createId()] },
  "prompt.say": { prompt: "x" },
  "turn.say": { parts: say("x") },
  "message.add": { parts: say("x") },
  "history.add": { messages: [{ role: "user", content: "x" }] },
  "turn.retry": { at: createId() },
  "turn.resume": { at: createId() },
  "process.stop": { process: "p1" },
  "input.edit": { input: createId(), delivery: "queue" },
  "input.withdraw": { input: createId() },
  "branch.compact": { at: createId() },
  "question.answer": { question: createId(), answer: { decision: "allow" } },
  "rule.revoke": { pattern: "shell(ls)" },
  "address.revoke": { address: "example.org" },
  "message.label": { message: createId(), label: "x" },
  "message.star": { message: createId(), starred: true },
  "summary.edit": { message: createId(), text: "x" },
  "memory.dismiss": { message: createId(), item: 0, dismissed: true },
  "message.remove": { message: createId() },
  "message.restore": { message: createId() },
  "model.use": { model: "demo/offline" },
  "approval.use": { mode: "all" },
  "file.find": { query: "" },
  "file.undo": { leaf: createId(), call: createId() },
  "file.compare": { leaf: createId() },
  "file.rewind": { leaf: createId(), asOf: 0 },
  "share.revoke": { share: createId() },
  "branch.fan": { parts: say("x"), times: 2 },
  "branch.compare": { at: createId() },
  "branch.bring": { from: createId(), to: createId() },
  "worktree.remove": { name: "x" },
};

test("S29: a link executes only the commands that show its own conversation, over HTTP and a socket", async () => {
  const { server, conversation, other, bearer, token } = await shared();
  const socket = await TestClient.connect(server, token);
  const done: string[] = [];
  for (const type of Object.keys(commands)) {
    const { status, body } = await command(server.address, bearer, type, { conversation, ...INPUTS[type] });
    if (status !== 403 && !body.includes("needs a WebSocket")) done.push(type);
    const elsewhere = await command(server.address, bearer, type, { conversation: other, ...INPUTS[type] });
    expect(elsewhere.body, type).toMatch(/"forbidden"|needs a WebSocket/);
    expect(elsewhere.body).not.toContain(MINE);
    const asked = socket.ask(type as "feed.subscribe", { conversation: other, ...INPUTS[type] } as never);
    await expect(asked, type).rejects.toThrow();
  }
  expect(done).toEqual(["message.read"]);
  const shows = (Object.keys(commands) as CommandName[]).filter((type) => rightFor(type) === "show");
  expect(shows).toEqual(["feed.subscribe", "feed.unsubscribe", "message.read"]);
  expect(JSON.stringify(socket.frames)).not.toContain(MINE);
});

test("S29: a link opens only its conversation's feed, the empty page, and public addresses", async () => {
  const { server, conversation, other, bearer } = await shared();
  const { paths } = openApi("x", doors) as { readonly paths: Readonly<Record<string, object>> };
  const open: string[] = [];
  const tried: Answered[] = [];
  for (const [path, methods] of Object.entries(paths)) {
    for (const method of ["get", "post", "put", "delete"]) {
      const at = path.replaceAll(/\{[^}]+\}/g, other);
      const body =
        method === "post" ? JSON.stringify({ conversation: other, messages: say(MINE), model: "banyan" }) : undefined;
      const answered = await ask(server.address, at, {
        method: method.toUpperCase(),
        headers: bearer,
        ...(body && { body }),
      });
      tried.push(answered);
      if (answered.status < 400 && method in methods) open.push(`${method} ${path}`);
    }
  }
  expect(tried.length).toBeGreaterThan(40);
  expect(open.sort()).toEqual(["get /api/v1/health"]);
  expect(JSON.stringify(tried)).not.toContain(MINE);
  const feed = (id: string) => fetch(`${server.address}/api/v1/conversations/${id}/feed`, { headers: bearer });
  expect((await feed(other)).status).toBe(403);
  const own = await feed(conversation);
  expect(own.status).toBe(200);
  await own.body?.cancel();
});

test("S29: a link shows messages live, without private details and without waiting or removed messages", async () => {
  const { server, owner, conversation, said, token } = await shared();
  await owner.ask("message.remove", { conversation, message: said[1] ?? "" });
  const visitor = await TestClient.connect(server, token);
  const [welcome] = visitor.frames;
  expect(welcome).toMatchObject({ rights: ["show"], workspace: "", only: { conversation } });
  const { state } = await visitor.watch(conversation);
  expect([...state.messages.values()].map(({ id }) => id)).toContain(said[0]);
  expect([...state.messages.keys()]).not.toContain(said[1]);
  expect(state.labels).not.toHaveProperty("cwd");
  await owner.ask("turn.say", { conversation, at: said[0] ?? "", parts: say("As it happens") });
  await visitor.item("run.ended");
  const started = visitor.items.find(({ type }) => type === "run.started");
  expect(started).toMatchObject({ settings: {}, limits: {} });
  expect(JSON.stringify(visitor.items)).toContain("As it happens");
  expect(JSON.stringify(visitor.frames)).not.toContain("And more");
  // From its beginning, the log would reveal removed messages.
  const late = await TestClient.connect(server, token);
  await late.ask("feed.subscribe", { conversation, from: { epoch: 0, seq: 0, offset: 0 } });
  await late.frame("snapshot");
  expect(JSON.stringify(late.frames)).not.toContain("And more");
});

test("S29, C13: a link to a branch shows only this branch, despite later messages on other branches", async () => {
  const { server, owner, conversation, said, token } = await shared({ isBranch: true });
  const visitor = await TestClient.connect(server, token);
  const { state } = await visitor.watch(conversation);
  expect([...state.messages.keys()]).toEqual([said[0]]);
  await owner.ask("turn.say", { conversation, parts: say("Later") });
  await owner.until(() => owner.items.some((item) => item.type === "run.ended"));
  expect(await visitor.ask("message.read", { conversation, messages: said })).toMatchObject({
    messages: [{ id: said[0] }],
    unknown: [said[1]],
  });
  expect(visitor.items).toEqual([]);
});

test("S29: a revoked or expired link ends its open views, and opens nothing", async () => {
  const { server, owner, conversation, bearer, share, token } = await shared();
  const visitor = await TestClient.connect(server, token);
  await visitor.watch(conversation);
  const stream = await fetch(`${server.address}/api/v1/conversations/${conversation}/feed`, { headers: bearer });
  const page = await signIn(server.address, token);
  await owner.ask("share.revoke", { share: share.id });
  await visitor.end();
  expect(visitor.frames.at(-1)).toMatchObject({
    type: "refused",
    message: expect.stringContaining("has expired or was revoked"),
  });
  for await (const _ of stream.body ?? []) {
    // The stream ends.
  }
  expect(await ask(server.address, `/api/v1/conversations/${conversation}/feed`, { headers: bearer })).toMatchObject({
    status: 401,
  });
  expect(await ask(server.address, `/?token=${token}`)).toMatchObject({ status: 401 });
  expect((await ask(server.address, "/api/v1/page", { headers: { cookie: page.cookie } })).body).toBe(
    '{"signedIn":false}',
  );
  expect(await owner.ask("share.list", {})).toEqual({ shares: [] });
  await expect(owner.ask("share.revoke", { share: share.id })).rejects.toThrow("There is no shared link");

  const brief = await owner.ask("share.create", { conversation, seconds: 1 });
  const looking = await TestClient.connect(server, brief.token);
  await looking.watch(conversation);
  await looking.end();
  expect(await ask(server.address, `/?token=${brief.token}`)).toMatchObject({ status: 401 });
});

test("S29: at each request its time is judged by the clock, and not by a timer that was late", () => {
  const shares = new KeptShares();
  const { share, token } = shares.create({ conversation: "c" }, 60);
  expect(shares.byToken(token)).toBeDefined();
  vi.setSystemTime(share.expiresAt);
  expect(shares.byToken(token)).toBeUndefined();
  expect(shares.list()).toEqual([]);
  vi.useRealTimers();
});

test("S29: the server keeps a digest, knows the link after a restart, and forgets it with the conversation", async () => {
  const state = temporaryDirectory();
  const { server, owner, conversation, token } = await shared({ state });
  const file = join(state, "links.json");
  expect(readFileSync(file, "utf8")).not.toContain(token);
  const again = new KeptShares(file);
  expect(again.byToken(token)?.principal).toMatchObject({ rights: ["show"], only: { conversation } });
  again[Symbol.dispose]();
  await owner.ask("conversation.remove", { conversation });
  expect(await ask(server.address, `/?token=${token}`)).toMatchObject({ status: 401 });
  expect(new KeptShares(file).list()).toEqual([]);
});

test("S29: a link whose file cannot be written is not created; a revoked one ends at once, and its end can be stored later", async () => {
  const state = temporaryDirectory();
  const file = join(state, "links.json");
  const { server, owner, conversation, token, share } = await shared({ state });
  const looking = () => ask(server.address, `/?token=${token}`, { headers: { "sec-fetch-mode": "navigate" } });
  const stored = readFileSync(file, "utf8");
  rmSync(file);
  mkdirSync(join(file, "in-the-way"), { recursive: true });
  const said = await owner.ask("share.create", { conversation }).catch((error: Error) => error);
  expect(said).toMatchObject({
    code: "invalid",
    message: expect.stringMatching(/links\.json: it cannot be written .*No link was created\.$/),
  });
  expect((await owner.ask("share.list", { conversation })).shares).toHaveLength(1);
  expect(await looking()).toMatchObject({ status: 303 });
  await expect(owner.ask("share.revoke", { share: share.id })).rejects.toThrow(/Revoke the link once more\.$/);
  expect(await looking()).toMatchObject({ status: 401 });
  expect(readdirSync(state).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  rmSync(file, { recursive: true });
  writeFileSync(file, stored);
  await owner.ask("share.revoke", { share: share.id });
  expect(new KeptShares(file).list()).toEqual([]);
  await expect(owner.ask("share.revoke", { share: share.id })).rejects.toThrow("There is no shared link");
});

test("S29: on a full disk existing links stay, and a new link is refused", () => {
  const file = join(temporaryDirectory(), "links.json");
  const module = new URL("./auth/kept-shares.ts", import.meta.url).href;
  const script = `import { KeptShares } from ${JSON.stringify(module)};
    const shares = new KeptShares(${JSON.stringify(file)});
    for (let made = 0; ; made++)
      try { shares.create({ conversation: "c" }, 60); }
      catch ({ name, message }) { console.log(JSON.stringify({ made, name, message, listed: shares.list().length })); break; }`;
  const limited = ["-c", 'ulimit -f 2 && exec "$0" --input-type=module -e "$1"', process.execPath, script];
  const { made, name, message, listed } = JSON.parse(execFileSync("bash", limited, { encoding: "utf8" }));
  expect([made > 2, listed, name]).toEqual([true, made, "ShareError"]);
  expect(message).toMatch(/it cannot be written \(EFBIG: .*No link was created\.$/);
  expect(new KeptShares(file).list()).toHaveLength(made);
  expect(readdirSync(dirname(file))).toEqual(["links.json"]);
});

test("S29, S20: a link is followed from any site; whoever sees more there stays who they are, and is given no key", async () => {
  const { server, conversation, token } = await shared();
  const from = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
  const opened = await ask(server.address, `/?token=${token}`, { headers: from });
  expect(opened).toMatchObject({ status: 303, headers: { location: expect.stringMatching(/^\/sign-in#/) } });
  expect(await ask(server.address, `/?token=${TOKEN}`, { headers: from })).toMatchObject({ status: 403 });
  const owner = await signIn(server.address, TOKEN);
  const answer = await ask(server.address, "/api/v1/sign-in", {
    method: "POST",
    headers: { origin: server.address, cookie: owner.cookie },
    body: JSON.stringify({ token }),
  });
  expect(JSON.parse(answer.body)).toEqual({ path: `/c/${conversation}` });
  expect(answer.headers["set-cookie"]).toBeUndefined();

  const page = await signIn(server.address, token);
  const client = new TestClient(server.address, { origin: server.address, cookie: page.cookie });
  const { challenge } = await client.frame("challenge");
  const proof = proofOf(page.key, challenge, new URL(server.address).host);
  client.sendText(JSON.stringify({ type: "hello", protocol: "1.0", client: "a page", proof }));
  expect(await client.frame("welcome")).toMatchObject({ rights: ["show"] });
});
