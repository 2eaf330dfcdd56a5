import { Agent } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { sqliteStore } from "@banyan/store/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { type HandlerOptions, handler } from "./handler.ts";
import { serve } from "./server.ts";
import { ask } from "./testing/request.fixture.ts";
import { TOKEN, temporaryDirectory } from "./testing/serving.fixture.ts";

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

const say = (id: string, headers: Readonly<Record<string, string>> = {}, address = `${ORIGIN}/api/chat`) =>
  new Request(address, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ id, messages: [{ id: `${id}-1`, role: "user", parts: [{ type: "text", text: "Hi" }] }] }),
  });

/** A handler whose users name themselves, and each request that one of them can send about a conversation. */
function usersHere(options: Partial<HandlerOptions> = {}) {
  const users = ({ headers }: Request) => {
    const user = headers.get("x-user");
    return user === "admin" ? true : user !== null && { user };
  };
  const { fetch, close } = handlerHere({ authorize: users, ...options });
  const as = (user: string, method: string, path: string, body?: unknown, more: Record<string, string> = {}) =>
    fetch(
      new Request(`${ORIGIN}${path}`, {
        method,
        headers: { "x-user": user, "content-type": "application/json", ...more },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      }),
    );
  const textOf = async (response: Promise<Response>) => (await response).text();
  const idsOf = async (user: string, query = "") => {
    const { conversations } = JSON.parse(await textOf(as(user, "GET", `/api/v1/conversations${query}`)));
    return (conversations as { id: string }[]).map(({ id }) => id).sort();
  };
  return { as, textOf, idsOf, close };
}

const uiMessage = (text: string) => ({ id: `m-${text.length}`, role: "user", parts: [{ type: "text", text }] });

test("L1: users of one handler see and change only their own conversations, through every door", async () => {
  const store = storeHere();
  const first = usersHere({ store });
  let { as, textOf, idsOf } = first;
  const secret = "The password is swordfish";
  await textOf(as("ada", "POST", "/api/chat", { id: "t", messages: [uiMessage(secret)] }));
  await textOf(as("bob", "POST", "/api/chat", { id: "b", messages: [uiMessage("Hi")] }));
  expect([await idsOf("ada"), await idsOf("bob"), await idsOf("admin")]).toEqual([["t"], ["b"], ["b", "t"]]);
  const command = (type: string, more: object) => ["POST", "/api/v1/commands", { type, id: type, ...more }] as const;
  const parts = [{ type: "text", text: "Hi" }];
  const messages = [{ id: "x", role: "user", content: "Hi" }];
  const run = { threadId: "t", runId: "r", messages, tools: [], context: [], state: {}, forwardedProps: {} };
  const attempts = [
    ["GET", "/api/v1/conversations/t/export"],
    ["GET", "/api/v1/conversations/t/feed"],
    ["GET", "/api/chat/t"],
    ["GET", "/api/chat/t/stream"],
    ["POST", "/api/chat", { id: "t", messages: [uiMessage("Hi")] }],
    ["POST", "/api/ag-ui", run],
    ["POST", "/v1/chat/completions", { model: "shop", messages }, { "x-banyan-conversation": "t" }],
    ...["conversation.rename", "conversation.remove", "context.read", "message.read", "conversation.create"].map(
      (type) => command(type, { conversation: "t", title: "Mine", messages: [] }),
    ),
    command("conversation.export", { conversation: "t", format: "markdown" }),
    command("conversation.open", { named: "t" }),
    command("turn.say", { conversation: "t", parts }),
    command("branch.fan", { conversation: "t", parts, times: 2 }),
  ] as const;
  const attack = async () => {
    for (const [method, path, body, more] of attempts) {
      const answer = await as("bob", method, path, body, more);
      const text = await answer.text();
      const shown = [method, path, JSON.stringify(body), answer.status, text];
      expect(shown).toEqual([...shown.slice(0, 3), expect.toSatisfy((status) => status >= 400 && status < 500), text]);
      expect(text).not.toContain("swordfish");
    }
  };
  // The conversation is open; then the handler has restarted, and nobody has the conversation open.
  await attack();
  await first.close();
  ({ as, textOf, idsOf } = usersHere({ store }));
  await attack();
  for (const door of ["/api/chat", "/api/ag-ui"])
    expect(await textOf(as("bob", "POST", `${door}/t/stop`))).toBe('{"interrupted":0}');
  expect(await textOf(as("bob", "GET", "/api/v1/conversations?query=swordfish"))).toBe('{"hits":[]}');
  expect(await textOf(as("ada", "GET", "/api/v1/conversations?query=swordfish"))).toContain("swordfish");
  expect([await idsOf("ada"), await idsOf("bob")]).toEqual([["t"], ["b"]]);
  expect(await textOf(as("ada", "GET", "/api/chat/t"))).toContain("swordfish");

  // A program's chat has the same name for both users; its history finds no conversation of another user.
  for (const user of ["ada", "bob"]) {
    const said = { model: "shop", stream: true, messages: [{ role: "user", content: `I am ${user}` }] };
    const streamed = await textOf(as(user, "POST", "/v1/chat/completions", said, { "x-banyan-chat": "1" }));
    expect(streamed).toContain("Hello.");
  }
  const known = [
    { role: "user", content: "I am ada" },
    { role: "assistant", content: "Hello." },
    { role: "user", content: "And?" },
  ];
  const before = await idsOf("ada", "?programs=true");
  const continued = await as("bob", "POST", "/v1/chat/completions", { model: "shop", messages: known });
  expect(before).not.toContain(continued.headers.get("x-banyan-conversation"));
  expect(await idsOf("ada", "?programs=true")).toEqual(before);
});

test("L1: an import belongs to the importing user, despite its labels, and also after a restart", async () => {
  const store = storeHere();
  const { as, textOf, idsOf } = usersHere({ store });
  await textOf(as("ada", "POST", "/api/chat", { id: "t", messages: [uiMessage("Hi")] }));
  const exported = await textOf(as("ada", "GET", "/api/v1/conversations/t/export"));
  const planted = exported.replaceAll('"t"', '"planted"').replace('"labels":{', '"labels":{"user":"ada",');
  expect(planted).toContain('"user":"ada"');
  expect((await as("bob", "POST", "/api/v1/conversations", planted)).status).toBe(200);
  expect([await idsOf("ada"), await idsOf("bob")]).toEqual([["t"], ["planted"]]);
  const later = usersHere({ store });
  expect([await later.idsOf("ada"), await later.idsOf("bob")]).toEqual([["t"], ["planted"]]);
  expect((await later.as("bob", "GET", "/api/chat/t")).status).toBe(404);
});

test("L1: unused desks of many users close, and open again with their conversations", async () => {
  const { as, textOf, idsOf } = usersHere({ idle: 1 });
  await textOf(as("ada", "POST", "/api/chat", { id: "t", messages: [uiMessage("Hi")] }));
  const listed = () => textOf(as("ada", "GET", "/api/v1/conversations"));
  // Without the option `state`, a desk that closes loses the count of unread turns.
  expect(await listed()).toContain('"unread":1');
  await expect
    .poll(async () => {
      for (let user = 0; user < 210; user++) await textOf(as(`user ${user}`, "GET", "/api/v1/none"));
      return listed();
    })
    .not.toContain('"unread":1');
  expect(await idsOf("ada")).toEqual(["t"]);
  expect(await textOf(as("ada", "POST", "/api/chat", { id: "t", messages: [uiMessage("Again")] }))).toContain("Hello.");
});

test("L1: pages of `allowedOrigins` send requests with cookies after a preflight; all other sites stay refused", async () => {
  const app = "https://app.example.com";
  const { fetch } = handlerHere({
    allowedHosts: ["api.example.com"],
    allowedOrigins: [app],
    authorize: ({ headers }) => headers.get("cookie") === "user=ada",
  });
  const url = "https://api.example.com/api/chat";
  const preflight = (origin: string, address = url) =>
    fetch(
      new Request(address, {
        method: "OPTIONS",
        headers: {
          origin,
          "sec-fetch-site": "cross-site",
          "access-control-request-method": "POST",
          "access-control-request-headers": "content-type",
        },
      }),
    );
  const asked = await preflight(app);
  expect(asked.status).toBe(204);
  expect(Object.fromEntries(asked.headers)).toMatchObject({
    "access-control-allow-origin": app,
    "access-control-allow-credentials": "true",
    "access-control-allow-headers": "content-type",
    "access-control-allow-methods": "GET,POST",
  });
  const fromPage = { origin: app, "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors" };
  const said = await fetch(say("a", { ...fromPage, cookie: "user=ada" }, url));
  expect([said.status, said.headers.get("access-control-allow-origin"), said.headers.get("vary")]).toEqual([
    200,
    app,
    expect.stringContaining("Origin"),
  ]);
  expect(await said.text()).toContain("Hello.");
  // The page reads refusals, too.
  const refused = await fetch(say("a", fromPage, url));
  expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([401, app]);
  for (const other of ["https://evil.example.net", "http://app.example.com", "https://app.example.com:8443", "null"]) {
    const foreign = await preflight(other);
    const sent = await fetch(say("a", { origin: other, cookie: "user=ada" }, url));
    expect([other, foreign.status, sent.status]).toEqual([other, 403, 403]);
    for (const { headers } of [foreign, sent]) expect(headers.get("access-control-allow-origin")).toBeNull();
  }
  // A form or an image of another site, a frame, and a foreign name that resolves to the server.
  const site = { cookie: "user=ada", "sec-fetch-site": "cross-site" };
  expect((await fetch(say("a", site, url))).status).toBe(403);
  expect((await fetch(say("a", { ...site, origin: app, "sec-fetch-dest": "iframe" }, url))).status).toBe(403);
  expect((await preflight(app, "https://evil.example.net/api/chat")).status).toBe(421);
});

test("L1: pages of `allowedOrigins` send requests with a token to a served agent; the page and all other sites stay closed", async () => {
  const app = "https://app.example.com";
  const server = await serve(agent, { store: storeHere(), token: TOKEN, allowedOrigins: [app] });
  onTestFinished(() => server.stop());
  const fromPage = { origin: app, "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors" };
  const preflight = (headers: Readonly<Record<string, string>>, path = "/v1/chat/completions") =>
    ask(server.address, path, { method: "OPTIONS", headers: { ...headers, "access-control-request-method": "POST" } });
  const say = (headers: Readonly<Record<string, string>>) => {
    const body = JSON.stringify({ model: "shop", messages: [{ role: "user", content: "Hi" }] });
    const typed = { "content-type": "application/json", ...headers };
    return ask(server.address, "/v1/chat/completions", { method: "POST", headers: typed, body });
  };
  for (const path of ["/v1/chat/completions", "/api/chat", "/api/v1/commands"])
    expect(await preflight(fromPage, path)).toMatchObject({
      status: 204,
      headers: { "access-control-allow-origin": app, "access-control-allow-methods": "GET,POST" },
    });
  const authorization = `Bearer ${TOKEN}`;
  const said = await say({ ...fromPage, authorization });
  expect(said).toMatchObject({ status: 200, headers: { "access-control-allow-origin": app } });
  expect(said.headers["access-control-expose-headers"]).toBe("x-banyan-conversation");
  expect(JSON.parse(said.body).choices[0].message.content).toBe("Hello.");
  expect(await say(fromPage)).toMatchObject({ status: 401, headers: { "access-control-allow-origin": app } });
  const signIn = { method: "POST", headers: fromPage, body: JSON.stringify({ token: TOKEN }) };
  expect((await ask(server.address, "/api/v1/sign-in", signIn)).status).toBe(403);
  expect((await ask(server.address, "/", { headers: fromPage })).headers).not.toHaveProperty(
    "access-control-allow-origin",
  );
  for (const origin of ["https://evil.example.net", "http://app.example.com", "null"])
    for (const sent of [await preflight({ origin }), await say({ origin, authorization })]) {
      expect([origin, sent.status]).toEqual([origin, 403]);
      expect(sent.headers).not.toHaveProperty("access-control-allow-origin");
    }
});
