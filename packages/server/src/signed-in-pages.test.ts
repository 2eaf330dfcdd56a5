import { once } from "node:events";
import { createId } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { closeCodes, PROTOCOL } from "@banyan/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { Principals } from "./auth/principal.ts";
import { SIGNED_IN, SignedInPage } from "./auth/signed-in-page.ts";
import { ask } from "./testing/request.fixture.ts";
import { serving, TOKEN } from "./testing/serving.fixture.ts";
import { proofOf, signIn, signInWith } from "./testing/sign-in.fixture.ts";

const GUEST = "a-guest-of-a-test-0123456789-0123456789";
const server = async () => (await serving({ model: scriptedModel([]) }, { guestToken: GUEST })).server;
const frameOf = async (socket: WebSocket) => JSON.parse(String((await once(socket, "message"))[0]));

/** A socket as a page opens it, and its first frame. */
async function opened(address: string, cookie: string, more: Readonly<Record<string, string>> = {}) {
  const headers = { cookie, origin: address, ...more };
  const socket = new WebSocket(`${address.replace("http", "ws")}/api/v1/socket`, { headers });
  onTestFinished(() => socket.terminate());
  const closed = once(socket, "close").then(([code]) => code as number);
  const { type, challenge } = await frameOf(socket);
  expect(type).toBe("challenge");
  const hello = (proof?: string) =>
    socket.send(JSON.stringify({ type: "hello", protocol: PROTOCOL, client: "a page", proof }));
  return { socket, closed, challenge: String(challenge), hello };
}

describe("S20: the cookie of a page, which every port of a host gets, is worth nothing alone", () => {
  test("S20: no address of the API accepts the page's cookie, with any headers", async () => {
    const { address } = await server();
    const { cookie } = await signIn(address, TOKEN);
    const body = JSON.stringify({ type: "conversation.create", id: createId() });
    const id = createId();
    const paths = ["conversations", "models", "openapi.json", `conversations/${id}/export`, `conversations/${id}/feed`];
    const from: readonly Readonly<Record<string, string>>[] = [
      {},
      { origin: address },
      { "sec-fetch-site": "same-origin" },
      { "sec-fetch-site": "none" },
    ];
    for (const more of from) {
      for (const path of paths)
        expect(await ask(address, `/api/v1/${path}`, { headers: { cookie, ...more } }), path).toMatchObject({
          status: 401,
        });
      const post = { method: "POST", body, headers: { cookie, ...more } };
      for (const path of ["commands", "conversations"])
        expect(await ask(address, `/api/v1/${path}`, post)).toMatchObject({ status: 401 });
    }
    const headers = { authorization: `Bearer ${TOKEN}` };
    expect(JSON.parse((await ask(address, "/api/v1/conversations", { headers })).body)).toEqual({ conversations: [] });
  });

  test("S20: a socket gets no data before the page has proved its key for this connection and host", async () => {
    const { address } = await server();
    const { host } = new URL(address);
    const { cookie, key } = await signIn(address, TOKEN);
    const other = await signIn(address, TOKEN);
    const earlier = await opened(address, cookie);
    const wrong: readonly ((challenge: string) => string | undefined)[] = [
      () => undefined,
      () => "",
      () => cookie.slice(0, 100),
      (challenge) => challenge,
      (challenge) => proofOf(other.key, challenge, host),
      (challenge) => proofOf(key, challenge, "127.0.0.1:1"),
      () => proofOf(key, earlier.challenge, host),
    ];
    for (const proof of wrong) {
      const { socket, challenge, closed, hello } = await opened(address, cookie);
      const heard: string[] = [];
      socket.on("message", (data) => heard.push(JSON.parse(String(data)).type));
      hello(proof(challenge));
      socket.send(JSON.stringify({ type: "conversation.create", id: createId() }));
      expect(await closed).toBe(closeCodes.unproven);
      expect(heard).toEqual(["fault"]);
    }
    earlier.hello(proofOf(key, earlier.challenge, host));
    expect(await frameOf(earlier.socket)).toMatchObject({ type: "welcome", rights: ["show", "watch", "act"] });
  });

  test("S20: a command in the place of the proof ends the connection, and is not carried out", async () => {
    const { server: running, store } = await serving({ model: scriptedModel([]) });
    const { cookie } = await signIn(running.address, TOKEN);
    const { socket, closed } = await opened(running.address, cookie);
    socket.send(JSON.stringify({ type: "conversation.import", id: createId(), text: "{}" }));
    expect(await closed).toBe(closeCodes.malformed);
    expect(await store.list()).toEqual([]);
  });

  test("S20, S4: a guest's page has a guest's rights; where a browser cannot sign, the key is its own proof", async () => {
    const { address } = await server();
    const { cookie, key } = await signInWith(address, GUEST);
    const { socket, hello } = await opened(address, cookie);
    hello(key);
    expect(await frameOf(socket)).toMatchObject({ type: "welcome", rights: ["show", "watch"] });
  });

  test("S20: an unchanged cookie is valid for 30 days and only with its token", () => {
    const principals = new Principals({ owner: TOKEN, guest: GUEST });
    const { owner } = principals;
    const now = Date.now();
    const page = SignedInPage.begin(owner.principal, owner.token, now);
    const { cookie } = page;
    const knownAt = (at: number) => SignedInPage.of(cookie, owner.principal, owner.token, at) !== undefined;
    expect([now, now + (SIGNED_IN - 1) * 1_000, now + SIGNED_IN * 1_000].map(knownAt)).toEqual([true, true, false]);
    expect(principals.byCookie(cookie)?.principal).toBe(owner.principal);
    expect(new Principals({ owner: `${TOKEN}x` }).byCookie(cookie)).toBeUndefined();
    const changed = [...cookie].map(
      (letter, at) => `${cookie.slice(0, at)}${letter === "5" ? "6" : "5"}${cookie.slice(at + 1)}`,
    );
    for (const other of [...changed, "", ".", "..", cookie.slice(1), `${cookie}A`, page.key])
      expect(principals.byCookie(other), other).toBeUndefined();
  });

  test("S20: a restart with the same token knows the page, one with another token does not", async () => {
    const first = await server();
    const { cookie, key } = await signIn(first.address, TOKEN);
    const port = Number(new URL(first.address).port);
    await first.stop();
    const second = (await serving({ model: scriptedModel([]) }, { port })).server;
    const { socket, challenge, hello } = await opened(second.address, cookie);
    hello(proofOf(key, challenge, new URL(second.address).host));
    expect(await frameOf(socket)).toMatchObject({ type: "welcome" });
    socket.terminate();
    await second.stop();
    const third = (await serving({ model: scriptedModel([]) }, { port, token: `${TOKEN}-new` })).server;
    const page = await ask(third.address, "/api/v1/page", { headers: { cookie } });
    expect(JSON.parse(page.body)).toEqual({ signedIn: false });
  });
});

describe("S20: a user with the token can always sign in", () => {
  /** The headers that browsers send for requests of another site's page, or for embedded pages. */
  const behind: readonly Readonly<Record<string, string>>[] = [
    { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" },
    { "sec-fetch-site": "same-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" },
    { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" },
    { "sec-fetch-site": "none", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" },
    { "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate", "sec-fetch-dest": "object" },
    { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" },
    { "sec-fetch-site": "none", "sec-purpose": "prefetch;prerender" },
    { origin: "https://evil.example" },
    { origin: "null" },
  ];

  test("S20: a request that a foreign page causes is not counted, signs nobody in, and uses up no token", async () => {
    const running = await server();
    const { address } = running;
    const token = new URL(running.pageAddressOnce()).searchParams.get("token") ?? "";
    for (const headers of behind) {
      for (let i = 0; i < 25; i++)
        expect(await ask(address, `/?token=wrong${i}`, { headers }), JSON.stringify(headers)).toMatchObject({
          status: 403,
        });
      for (const right of [token, TOKEN]) {
        const answer = await ask(address, `/?token=${right}`, { headers });
        expect(answer).toMatchObject({ status: 403 });
        expect(answer.headers).not.toHaveProperty("set-cookie");
        expect(answer.headers).not.toHaveProperty("location");
        const post = { method: "POST", headers: { origin: address, ...headers }, body: JSON.stringify({ token }) };
        expect(await ask(address, "/api/v1/sign-in", post), JSON.stringify(headers)).toMatchObject({ status: 403 });
      }
    }
    // None of them counted: the first counted request gets its own error.
    expect(await ask(address, "/?token=wrong")).toMatchObject({ status: 401 });
    expect(await ask(address, `/?token=${token}`)).toMatchObject({ status: 303 });
  });

  test("S20: every address, with every credential, from everywhere: no stranger gets in, and no owner is kept out", async () => {
    const { address } = await server();
    const { host } = new URL(address);
    const { cookie } = await signIn(address, TOKEN);
    for (let i = 0; i < 40; i++) await ask(address, "/api/v1/models", { headers: { authorization: `Bearer ${i}` } });
    type Headers = Readonly<Record<string, string>>;
    const credentials: Readonly<Record<string, Headers>> = {
      none: {},
      wrong: { authorization: "Bearer wrong" },
      cookie: { cookie },
      guest: { authorization: `Bearer ${GUEST}` },
      owner: { authorization: `Bearer ${TOKEN}` },
    };
    const own: Headers[] = [{}, { origin: address }, { "sec-fetch-site": "same-origin" }, { "sec-fetch-site": "none" }];
    const foreign: Headers[] = [
      { host: `evil.example:${new URL(address).port}` },
      { origin: "http://127.0.0.1:1" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" },
      { "sec-fetch-site": "same-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" },
    ];
    const reads = ["/api/v1/conversations", "/api/v1/openapi.json", `/api/v1/conversations/${createId()}/export`];
    for (const [who, credential] of Object.entries(credentials)) {
      for (const from of own)
        for (const path of reads) {
          const { status } = await ask(address, path, { headers: { host, ...credential, ...from } });
          const isIn = who === "owner" || who === "guest";
          expect([200, 404].includes(status), `${who} ${path} ${JSON.stringify(from)}: ${status}`).toBe(isIn);
        }
      for (const from of foreign)
        for (const path of ["/", "/sign-in", `/?token=${TOKEN}`, "/api/v1/health", "/api/v1/page", ...reads]) {
          const { status } = await ask(address, path, { headers: { host, ...credential, ...from } });
          expect([403, 421], `${who} ${path} ${JSON.stringify(from)}`).toContain(status);
        }
    }
  });
});
