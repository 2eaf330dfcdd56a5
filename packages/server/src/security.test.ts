import { request } from "node:http";
import { createId } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { PROTOCOL } from "@banyan/protocol";
import { describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { ask } from "./testing/request.fixture.ts";
import { serving, TOKEN } from "./testing/serving.fixture.ts";
import { signIn } from "./testing/sign-in.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

const say = (text: string) => [{ type: "text", text }] as const;

const bearer = { authorization: `Bearer ${TOKEN}` };

/** The HTTP status of a refused upgrade; 101 if accepted. */
function upgrade(address: string, headers: Readonly<Record<string, string>>, path = "/api/v1/socket"): Promise<number> {
  const socket = new WebSocket(`${address.replace("http", "ws")}${path}`, { headers });
  return new Promise((resolve) => {
    socket.on("unexpected-response", (_request, response) => {
      resolve(response.statusCode ?? 0);
      socket.terminate();
    });
    socket.on("open", () => {
      resolve(101);
      socket.terminate();
    });
    socket.on("error", () => {
      // The response has the reason.
    });
  });
}

const server = () => serving({ model: scriptedModel([]) });

describe("S1: a token is needed, always", () => {
  test("S1: nothing but health is answered without the token, or with a wrong one", async () => {
    const { server: running, log } = await server();
    for (const path of ["/", "/c/anything", "/api/v1/conversations", "/api/v1/models", "/api/v1/openapi.json"]) {
      expect(await ask(running.address, path), path).toMatchObject({ status: 401 });
      const wrong = { authorization: "Bearer wrong" };
      expect(await ask(running.address, path, { headers: wrong }), path).toMatchObject({ status: 401 });
    }
    expect(await ask(running.address, "/api/v1/health")).toMatchObject({ status: 200 });
    expect(await ask(running.address, "/api/v1/conversations", { headers: bearer })).toMatchObject({ status: 200 });
    expect(log.filter((line) => line.includes("refused GET /api/v1/models"))).toHaveLength(2);
  });

  test("S1: a socket needs it too", async () => {
    const { server: running } = await server();
    expect(await upgrade(running.address, {})).toBe(401);
    expect(await upgrade(running.address, { authorization: "Bearer wrong" })).toBe(401);
    expect(await upgrade(running.address, bearer)).toBe(101);
    expect(await upgrade(running.address, bearer, "/elsewhere")).toBe(404);
  });

  test("S1: the token is random when none is set, and it listens on loopback only", async () => {
    const tokens = new Set<string>();
    for (const _ of [1, 2]) {
      const { server: running } = await serving({ model: scriptedModel([]) }, { token: undefined });
      expect(running.token).toMatch(/^[A-Za-z0-9_-]{43}$/);
      expect(running.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      tokens.add(running.token);
    }
    expect(tokens.size).toBe(2);
  });

  test("S1, S20: a client that tries many tokens must wait; a client with the right token never waits", async () => {
    const { server: running } = await server();
    for (let i = 0; i < 20; i++) {
      const { status } = await ask(running.address, "/api/v1/models", { headers: { authorization: `Bearer ${i}` } });
      expect(status).toBe(401);
    }
    for (let i = 0; i < 30; i++) {
      const wrong = { authorization: `Bearer another-${i}` };
      expect(await ask(running.address, "/api/v1/models", { headers: wrong })).toMatchObject({ status: 429 });
      expect(await ask(running.address, `/?token=${i}`)).toMatchObject({ status: 429 });
    }
    expect(await ask(running.address, "/api/v1/models", { headers: bearer })).toMatchObject({ status: 200 });
    expect(await ask(running.address, `/?token=${TOKEN}`)).toMatchObject({ status: 303 });
    expect(await upgrade(running.address, bearer)).toBe(101);
    expect(await ask(running.address, "/api/v1/health")).toMatchObject({ status: 200 });
  });
});

describe("S2: only the server's own pages may send requests to it", () => {
  test("S2: a foreign Host is refused, whatever the token", async () => {
    const { server: running } = await server();
    const { port } = new URL(running.address);
    for (const host of [`evil.example:${port}`, `127.0.0.1.evil.example:${port}`, "127.0.0.1:1", "localhost"]) {
      const headers = { ...bearer, host };
      expect(await ask(running.address, "/api/v1/conversations", { headers }), host).toMatchObject({ status: 421 });
      expect(await ask(running.address, "/api/v1/health", { headers }), host).toMatchObject({ status: 421 });
      expect(await upgrade(running.address, headers), host).toBe(421);
    }
    const localhost = { ...bearer, host: `LOCALHOST:${port}` };
    expect(await ask(running.address, "/api/v1/conversations", { headers: localhost })).toMatchObject({ status: 200 });
  });

  test("S2: a foreign Origin is refused, and no origin is allowed to read across", async () => {
    const { server: running } = await server();
    const foreign = [
      "https://evil.example",
      "null",
      running.address.replace("127.0.0.1", "localhost"),
      "http://127.0.0.1:1",
    ];
    for (const origin of foreign) {
      const headers = { ...bearer, origin };
      expect(await ask(running.address, "/api/v1/conversations", { headers }), origin).toMatchObject({ status: 403 });
      expect(await ask(running.address, "/api/v1/commands", { headers, method: "POST", body: "{}" })).toMatchObject({
        status: 403,
      });
      expect(await upgrade(running.address, headers), origin).toBe(403);
    }
    const preflight = await ask(running.address, "/api/v1/commands", {
      method: "OPTIONS",
      headers: { origin: "https://evil.example", "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(403);
    const own = await ask(running.address, "/api/v1/conversations", {
      headers: { ...bearer, origin: running.address },
    });
    expect(own.status).toBe(200);
    expect(
      Object.keys({ ...preflight.headers, ...own.headers }).filter((name) => name.startsWith("access-control")),
    ).toEqual([]);
  });

  test("S2: cross-site requests of a browser are refused, except a followed link", async () => {
    const { server: running } = await server();
    const site = { ...bearer, "sec-fetch-site": "cross-site" };
    expect(await ask(running.address, "/api/v1/conversations", { headers: site })).toMatchObject({ status: 403 });
    const link = { ...site, "sec-fetch-mode": "navigate" };
    expect(await ask(running.address, "/api/v1/conversations", { headers: link })).toMatchObject({ status: 200 });
  });

  test("S2: a signed-in page must say where it is from when it opens a socket or signs in", async () => {
    const { server: running } = await server();
    const { cookie } = await signIn(running.address, TOKEN);
    expect(await upgrade(running.address, { cookie })).toBe(403);
    expect(await upgrade(running.address, { cookie, origin: running.address })).toBe(101);
    const post = { method: "POST", body: JSON.stringify({ token: TOKEN }) };
    expect(await ask(running.address, "/api/v1/sign-in", post)).toMatchObject({ status: 403 });
  });
});

describe("S3: the token stays where it belongs", () => {
  test("S3: the page's address gives the token once: for a cookie that no script reads and no other site sends", async () => {
    const { server: running, log } = await server();
    expect(running.pageAddress).toBe(`${running.address}/?token=${TOKEN}`);
    const { status, headers, body } = await ask(running.address, `/?token=${TOKEN}`);
    expect({ status, body, cookies: headers["set-cookie"] }).toEqual({ status: 303, body: "", cookies: undefined });
    const [, once] = /^\/sign-in#([A-Za-z0-9_-]{43})$/.exec(headers.location ?? "") ?? [];
    expect(headers["referrer-policy"]).toBe("no-referrer");
    expect(headers["cache-control"]).toBe("no-store");
    const post = { method: "POST", headers: { origin: running.address }, body: JSON.stringify({ token: once }) };
    const signedIn = await ask(running.address, "/api/v1/sign-in", post);
    const [cookie] = signedIn.headers["set-cookie"] ?? [];
    expect(cookie).toMatch(
      /^banyan-\d+=[\w-]{43}\.\d{10}\.[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(signedIn.headers["cache-control"]).toBe("no-store");
    expect(await ask(running.address, "/api/v1/sign-in", post)).toMatchObject({ status: 401 });
    expect(JSON.stringify([headers, signedIn, log])).not.toContain(TOKEN);
  });

  test("S3: an address that others may see signs one page in, and never another", async () => {
    const { server: running } = await server();
    const { pathname, search } = new URL(running.pageAddressOnce());
    expect(search).not.toContain(TOKEN);
    const token = search.replace("?token=", "");
    const asBearer = { headers: { authorization: `Bearer ${token}` } };
    expect(await ask(running.address, "/api/v1/conversations", asBearer)).toMatchObject({ status: 401 });
    const { cookie } = await signIn(running.address, token);
    expect(await upgrade(running.address, { cookie, origin: running.address })).toBe(101);
    expect(await ask(running.address, `${pathname}${search}`)).toMatchObject({ status: 401 });
  });

  test("S3: no other address takes a token, and none is logged", async () => {
    const { server: running, log } = await server();
    for (const path of ["/api/v1/conversations", "/c/x", "/api/v1/models"]) {
      expect(await ask(running.address, `${path}?token=${TOKEN}`), path).toMatchObject({ status: 401 });
    }
    expect(await upgrade(running.address, {}, `/api/v1/socket?token=${TOKEN}`)).toBe(401);
    expect(await ask(running.address, `/?token=${TOKEN}x`)).toMatchObject({ status: 401 });
    expect(log.length).toBeGreaterThan(4);
    expect(log.join("\n")).not.toContain(TOKEN);
  });

  test("S3: nothing that is served names another host, and no inline script runs", async () => {
    const { server: running } = await server();
    const { headers } = await ask(running.address, "/api/v1/health");
    const policy = String(headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toMatch(/script-src 'self';/);
    expect(policy).toMatch(/img-src 'self' data: blob:;/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("frame-src 'self';");
    expect(policy.match(/(https?|wss?):\/\/[^\s;]+/g)).toEqual(
      ["ws", "wss"].map((scheme) => `${scheme}://${new URL(running.address).host}`),
    );
    expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "x-frame-options": "DENY" });
  });
});

describe("S4: the server's own record decides a client's rights", () => {
  const guestToken = "a-guest-of-a-test-0123456789-0123456789";

  test("S4: a guest only watches, whatever rights it claims", async () => {
    const { server: running, store } = await serving({ model: scriptedModel(["Hello."]) }, { guestToken });
    const owner = await TestClient.connect(running);
    const { conversation } = await owner.ask("conversation.create", {});
    const guest = new TestClient(running.address, { authorization: `Bearer ${guestToken}`, "x-rights": "act" });
    await new Promise((resolve) => guest.socket.once("open", resolve));
    guest.sendText(
      JSON.stringify({
        type: "hello",
        protocol: PROTOCOL,
        client: "owner",
        rights: ["watch", "act"],
        principal: "owner",
      }),
    );
    expect(await guest.frame("welcome")).toMatchObject({ rights: ["show", "watch"] });
    await guest.watch(conversation);
    const acts = [
      guest.ask("turn.say", { conversation, parts: say("do something") }),
      guest.ask("message.add", { conversation, parts: say("the output of something") }),
      guest.ask("file.rewind", { conversation, leaf: createId(), asOf: 0 }),
      guest.ask("conversation.remove", { conversation }),
      guest.ask("approval.use", { mode: "all" }),
      guest.ask("model.use", { model: "another" }),
      guest.ask("question.answer", { conversation, question: createId(), answer: { decision: "allow" } }),
    ];
    for (const act of acts) await expect(act).rejects.toMatchObject({ code: "forbidden" });
    await owner.watch(conversation);
    await owner.ask("turn.say", { conversation, parts: say("hello") });
    await Promise.all([guest.item("run.ended"), owner.item("run.ended")]);
    // A guest does not see what the model gets besides the conversation (S28).
    const shown = owner.items.map((item) => (item.type === "content.stored" ? { ...item, text: "" } : item));
    expect(guest.items).toEqual(shown);
    expect(await store.list()).toHaveLength(1);
    const rest = await ask(running.address, "/api/v1/commands", {
      method: "POST",
      headers: { authorization: `Bearer ${guestToken}` },
      body: JSON.stringify({ type: "conversation.remove", id: createId(), conversation, rights: ["act"] }),
    });
    expect(rest.status).toBe(403);
  });

  test("S4: the server checks a guest's right to import before it reads the body", async () => {
    const { server: running } = await serving({ model: scriptedModel([]) }, { guestToken });
    const sent = (path: string, body: string, token = guestToken) => begun(running.address, path, body, token);
    const import_ = "/api/v1/conversations";
    expect(await sent(import_, "{")).toBe(403);
    expect(await sent("/api/v1/commands", `{"type":"${"x".repeat(2 * 1024 * 1024)}`)).toBe(413);
    expect(await sent(import_, "{", TOKEN)).toBe("nothing yet");
    const guest = await TestClient.connect(running, guestToken);
    guest.sendText("x".repeat(64 * 1024 + 1));
    await guest.until(() => guest.closed?.code === 1009);
  });

  test("S28: no way to the log shows a guest the model's instructions and tools", async () => {
    const secret = "of-the-instructions-of-the-owner";
    const { server: running } = await serving(
      { model: scriptedModel(["Hello."]), instructions: secret },
      { guestToken },
    );
    const owner = await TestClient.connect(running);
    const { conversation } = await owner.ask("conversation.create", {});
    const watching = await TestClient.connect(running, guestToken);
    await watching.watch(conversation);
    await owner.watch(conversation);
    await owner.ask("turn.say", { conversation, parts: say("hello") });
    await Promise.all([watching.item("run.ended"), owner.item("run.ended")]);
    const from = { epoch: 0, seq: 0, offset: 0 };
    const late = await TestClient.connect(running, guestToken);
    await late.ask("feed.subscribe", { conversation, from });
    await late.item("run.ended");
    const headers = { authorization: `Bearer ${guestToken}` };
    const exported = await ask(running.address, `/api/v1/conversations/${conversation}/export`, { headers });
    for (const told of [JSON.stringify(watching.frames), JSON.stringify(late.frames), exported.body]) {
      expect(told).toContain("content.stored");
      expect(told).not.toContain(secret);
    }
    const { text } = await owner.ask("conversation.export", { conversation, format: "json" });
    for (const told of [JSON.stringify(owner.items), text]) expect(told).toContain(secret);
  });
});

/** The response to the start of a body that never ends. */
function begun(address: string, path: string, body: string, token: string): Promise<number | "nothing yet"> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, "transfer-encoding": "chunked" };
    const sending = request(`${address}${path}`, { method: "POST", headers, agent: false }, ({ statusCode = 0 }) => {
      resolve(statusCode);
      sending.destroy();
    });
    sending.on("error", reject);
    sending.write(body);
    // A client that may import is not refused: other requests are answered first.
    void sending.once("socket", async () => {
      for (let round = 0; round < 20; round += 1) await ask(address, "/api/v1/health");
      resolve("nothing yet");
      sending.destroy();
    });
  });
}
