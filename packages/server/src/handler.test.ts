import { Agent, defineTool, OptionError } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { sqliteStore } from "@banyan/store/sqlite";
import { Hono } from "hono";
import { expect, onTestFinished, test } from "vitest";
import { type HandlerOptions, handler } from "./handler.ts";
import { serve } from "./server.ts";
import { TOKEN, temporaryDirectory } from "./testing/serving.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

const agent = new Agent({ name: "shop", model: scriptedModel(() => "Hello.") });
const ORIGIN = "http://localhost:3000";

function storeHere() {
  const store = sqliteStore({ directory: temporaryDirectory() });
  onTestFinished(() => store.close());
  return store;
}

function handlerHere(options: Partial<HandlerOptions> = {}) {
  const made = handler(agent, { store: storeHere(), ...options });
  onTestFinished(() => made.close());
  return made;
}

const list = (address = `${ORIGIN}/api/v1/conversations`, headers: Readonly<Record<string, string>> = {}) =>
  new Request(address, { headers });
const say = (id: string, headers: Readonly<Record<string, string>> = {}, address = `${ORIGIN}/api/chat`) =>
  new Request(address, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ id, messages: [{ id: `${id}-1`, role: "user", parts: [{ type: "text", text: "Hi" }] }] }),
  });

test("L1: a handler without options for access is closed: only its random token opens it", async () => {
  const log: string[] = [];
  const { fetch, token = "", doors } = handlerHere({ log: (line) => log.push(line) });
  expect(token).toMatch(/^[\w-]{43}$/);
  for (const door of doors) {
    const response = await fetch(new Request(`${ORIGIN}${door}/models`));
    expect([door, response.status]).toEqual([door, 401]);
  }
  const refused = await fetch(list());
  expect(await refused.json()).toEqual({
    error: { code: "forbidden", message: "Not signed in. Send the handler's token: authorization: Bearer TOKEN." },
  });
  expect(log.at(-1)).toContain("refused GET /api/v1/conversations");
  expect((await fetch(list(undefined, { authorization: `Bearer ${token}x` }))).status).toBe(401);
  expect(await (await fetch(list(undefined, { authorization: `Bearer ${token}` }))).json()).toEqual({
    conversations: [],
  });
});

test("L1: with `authorize`, foreign sites and foreign host names are refused before the function runs", async () => {
  const asked: string[] = [];
  const { fetch, token } = handlerHere({
    allowedHosts: ["App.example.com"],
    authorize: (request) => {
      asked.push(new URL(request.url).host);
      return true;
    },
  });
  expect(token).toBeUndefined();
  const status = async (address: string, headers: Readonly<Record<string, string>> = {}) =>
    (await fetch(list(`${address}/api/v1/conversations`, headers))).status;
  // A foreign name that resolves to this machine, and pages of other sites in the user's browser.
  expect(await status("http://evil.example.net")).toBe(421);
  expect(await status("http://localhost.evil.example.net")).toBe(421);
  expect(await status(ORIGIN, { host: "evil.example.net" })).toBe(421);
  expect(await status(ORIGIN, { origin: "http://evil.example.net" })).toBe(403);
  expect(await status(ORIGIN, { origin: "http://localhost:9999" })).toBe(403);
  expect(await status(ORIGIN, { "sec-fetch-site": "cross-site" })).toBe(403);
  expect(await status(ORIGIN, { "sec-fetch-dest": "iframe" })).toBe(403);
  expect(asked).toEqual([]);
  expect(await status("https://app.example.com", { origin: "https://app.example.com" })).toBe(200);
  expect(await status("http://[::1]:3000")).toBe(200);
  expect(await status("http://127.0.0.1:8080", { origin: "http://127.0.0.1:8080" })).toBe(200);
  expect(asked).toHaveLength(3);
  const refused = await fetch(list("http://evil.example.net/api/v1/conversations"));
  expect(JSON.stringify(await refused.json())).toContain(
    "The host name evil.example.net is not allowed. Add it to `allowedHosts` of the handler.",
  );
});

test("L1: `authorize` gives rights, each with the lesser ones; its error and a wrong value open nothing", async () => {
  const log: string[] = [];
  const answers: Record<string, unknown> = {
    owner: true,
    watcher: { rights: ["watch"] },
    reader: { rights: ["show"] },
    nobody: false,
    absent: undefined,
    "no name": { user: undefined },
    "empty name": { user: "" },
    nothing: {},
    "old form": "guest",
    "no rights": { rights: [] },
    "unknown right": { user: "ada", rights: ["act", "all"] },
    "no list": { rights: "act" },
  };
  const { fetch } = handlerHere({
    log: (line) => log.push(line),
    authorize: async ({ headers }) => {
      const user = headers.get("x-user") ?? "";
      if (user === "broken") throw new Error("the database of users is away");
      return answers[user] as boolean;
    },
  });
  const statuses = async (user: string) => {
    const headers = { "x-user": user };
    const said = await fetch(say("a", headers));
    await said.text();
    const feed = await fetch(new Request(`${ORIGIN}/api/v1/conversations/a/feed`, { headers }));
    await feed.body?.cancel();
    return [said.status, (await fetch(list(undefined, headers))).status, feed.status];
  };
  expect(await statuses("owner")).toEqual([200, 200, 200]);
  expect(await statuses("watcher")).toEqual([403, 200, 200]);
  expect(await statuses("reader")).toEqual([403, 403, 200]);
  for (const refused of ["nobody", "absent"]) expect(await statuses(refused)).toEqual([401, 401, 401]);
  const reasons: Record<string, RegExp> = {
    broken: /the database of users is away/,
    nothing: /`authorize` must return true, false or { user, rights }, with at least one of the two\./,
    "old form": /`authorize` must return true, false/,
    "no name": /`user` must be 1 to 128 .*\. Return false to refuse a request\./,
    "empty name": /`user` must be/,
    "no rights": /`rights` is a list of "show", "watch" and "act", with at least one of them\./,
    "unknown right": /`rights` is a list/,
    "no list": /`rights` is a list/,
  };
  for (const [wrong, reason] of Object.entries(reasons)) {
    log.length = 0;
    const answer = await fetch(list(undefined, { "x-user": wrong }));
    expect([wrong, answer.status, await answer.text()]).toEqual([
      wrong,
      500,
      expect.stringContaining("Internal server"),
    ]);
    expect(log.join("\n")).toMatch(reason);
  }
});

test("L1: the doors are listed with their path; what needs a WebSocket is absent and says so", async () => {
  const { fetch, doors } = handlerHere({ authorize: () => true, path: "/agent" });
  expect(doors).toEqual(["/agent/api/v1", "/agent/v1", "/agent/api/chat", "/agent/api/ag-ui"]);
  const streamed = await fetch(say("a", {}, `${ORIGIN}/agent/api/chat`));
  expect(streamed.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1");
  expect(await streamed.text()).toContain("Hello.");
  expect(await (await fetch(list(`${ORIGIN}/agent/v1/models`))).json()).toMatchObject({ object: "list" });
  const { servers } = (await (await fetch(list(`${ORIGIN}/agent/api/v1/openapi.json`))).json()) as { servers: unknown };
  expect(servers).toEqual([{ url: "/agent" }]);
  for (const missing of ["/agent/", "/agent/c/a"]) {
    const response = await fetch(list(`${ORIGIN}${missing}`));
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      error: {
        code: "not-found",
        message: `There is nothing at this address. The handler serves ${doors.join(", ")}.`,
      },
    });
  }
  expect((await fetch(list(`${ORIGIN}/agent/api/v1/socket`))).status).toBe(404);
});

test("L1: AG-UI, OpenAI's API and the feed of events work in a handler too", async () => {
  const { fetch } = handlerHere({ authorize: () => true });
  const post = (path: string, body: object) =>
    fetch(
      new Request(`${ORIGIN}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
  const messages = [{ id: "m", role: "user", content: "Hi" }];
  const run = { threadId: "t", runId: "r", messages, tools: [], context: [], state: {}, forwardedProps: {} };
  const agUi = await (await post("/api/ag-ui", run)).text();
  expect(agUi).toContain('"type":"RUN_FINISHED"');
  expect(agUi).toContain("Hello.");
  const completion = await post("/v1/chat/completions", { model: "shop", messages: [{ role: "user", content: "Hi" }] });
  expect(await completion.json()).toMatchObject({ choices: [{ message: { content: "Hello." } }] });
  const feed = await fetch(new Request(`${ORIGIN}/api/v1/conversations/t/feed`));
  expect(feed.headers.get("content-type")).toBe("text/event-stream");
  const reader = (feed.body as ReadableStream<Uint8Array>).getReader();
  const { value } = await reader.read();
  expect(new TextDecoder().decode(value)).toContain('"type":"snapshot"');
  await reader.cancel();
});

test("L1: many users share a handler: it limits no rates, and refuses requests after `close`", async () => {
  const { fetch, close } = handlerHere({ authorize: () => true });
  const all = await Promise.all(Array.from({ length: 400 }, () => fetch(list())));
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]));
  expect(all[0]?.headers.get("cache-control")).toBe("no-store");
  await Promise.all([close(), close()]);
  for (const request of [say("late"), list()]) {
    const late = await fetch(request);
    expect([late.status, await late.text()]).toEqual([503, expect.stringContaining("This handler is closed.")]);
  }
});

test("L1: a framework that removes the path needs no option", async () => {
  const { fetch } = handlerHere({ token: TOKEN });
  const app = new Hono().mount("/agent", fetch);
  const response = await app.request("/agent/api/v1/conversations", {
    headers: { host: "localhost", authorization: `Bearer ${TOKEN}` },
  });
  expect(response.status).toBe(200);
});

test("L1: wrong options of serve and handler are refused in one sentence with the nearest way", async () => {
  const store = storeHere();
  const missing = "`store` is missing. Pass sqliteStore({ directory }) of @banyan/store/sqlite, for example.";
  expect(() => handler(agent, undefined as never)).toThrow(new OptionError(`handler(agent, { store }): ${missing}`));
  expect(() => handler(agent, { store: {} as never })).toThrow(/`store` is no store/);
  expect(() => handler({ store } as never, { store })).toThrow(/handler: the first argument must be an Agent/);
  expect(() => handler(agent, { store, tokn: "a" } as never)).toThrow(
    "tokn is no option of handler; did you mean token?",
  );
  expect(() => handler(agent, { store, token: "a", authorize: () => true })).toThrow(/`token` and `authorize` exclude/);
  expect(() => handler(agent, { store, path: "agent/" })).toThrow(/`path` begins with a slash.*"agent\/"/);
  for (const [wrong, nearest] of [
    ["*", "."],
    ["null", "."],
    ["app.example.com", "."],
    ["file:///page", "."],
    ["https://App.example.com/", '; did you mean "https://app.example.com"?'],
    [7, "."],
  ] as const) {
    const allowedOrigins = [wrong as string];
    const message = `: \`allowedOrigins\` has origins such as "https://app.example.com", and ${JSON.stringify(wrong)} is none${nearest}`;
    expect(() => handler(agent, { store, allowedOrigins })).toThrow(new OptionError(`handler${message}`));
    await expect(serve(agent, { store, allowedOrigins })).rejects.toThrow(new OptionError(`serve${message}`));
  }
  await expect(serve(agent, undefined as never)).rejects.toThrow(`serve(agent, { store }): ${missing}`);
  await expect(serve({ store } as never)).rejects.toThrow("serve needs an agent and a store, serve(agent, { store })");
  await expect(serve(agent, { store, prot: 1 } as never)).rejects.toThrow(
    "prot is no option of serve; did you mean port?",
  );
  await expect(serve(agent, { store, host: {} } as never)).rejects.toThrow(/host is no option of serve/);
});

test("L1: a served agent has no files, modes or equipment: clients learn it, and the commands are refused", async () => {
  const act = defineTool({
    name: "act",
    description: "Acts.",
    input: { type: "object" },
    effects: "external",
    execute: () => "done",
  });
  const own = new Agent({ name: "shop", model: scriptedModel(() => "Hello."), tools: [act], instructions: "Be kind." });
  const server = await serve(own, { store: storeHere(), token: TOKEN });
  onTestFinished(() => server.stop());
  const client = await TestClient.connect(server);
  const welcome = client.frames.find((frame) => frame.type === "welcome");
  expect(welcome).toMatchObject({ agent: "shop", workspace: "", without: expect.arrayContaining(["file.find"]) });
  const { conversation } = await client.ask("conversation.create", {});
  const refused = [
    client.ask("file.find", { query: "" }),
    client.ask("approval.use", { mode: "plan" }),
    client.ask("equipment.read", {}),
    client.ask("sandbox.read", {}),
    client.ask("address.revoke", { address: "example.org" }),
    client.ask("worktree.list", {}),
    client.ask("worktree.open", { conversation }),
    client.ask("picture.read", { url: "https://example.com/a.png" }),
    client.ask("model.use", { model: "other/model", conversation }),
  ];
  for (const one of refused) await expect(one).rejects.toThrow(/is not available: the agent "shop" has no workspace/);
  const parts = [{ type: "text" as const, text: "Hi" }];
  await expect(client.ask("turn.say", { conversation, parts, model: "other/model" })).rejects.toThrow(
    'The agent "shop" has only the model scripted/model, and cannot use other/model.',
  );
  await expect(client.ask("prompt.say", { conversation, prompt: "review" })).rejects.toThrow(
    "There is no prompt /review.",
  );
  expect((await client.ask("model.list", {})).providers.map(({ name }) => name)).toEqual(["scripted"]);
  const { branches, problems } = await client.ask("branch.fan", { conversation, parts, times: 2 });
  expect([branches.length, problems]).toEqual([2, []]);
  const { parts: context } = await client.ask("context.read", { conversation });
  expect(context.map(({ source }) => source)).toEqual(expect.arrayContaining(["shop", "act"]));
});
