import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { McpOptions } from "../index.ts";
import { AuthorizationServer, guardedPuppet } from "../testing/authorization-server.fixture.ts";
import { freePort } from "../testing/free-port.fixture.ts";
import type { HttpPuppet } from "../testing/http-puppet.fixture.ts";
import { TestServers } from "../testing/surroundings.fixture.ts";

let authority: AuthorizationServer;
let server: HttpPuppet;
let folder: string;
let credentials: string;
/** The opened pages. */
let pages: URL[];

beforeEach(async () => {
  authority = await AuthorizationServer.open();
  server = await guardedPuppet(() => authority);
  folder = mkdtempSync(join(tmpdir(), "banyan-oauth-"));
  credentials = join(folder, "mcp");
  pages = [];
});
afterEach(async () => {
  await server.close();
  await authority[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** A user who agrees to everything. */
const openAddress = async (address: URL) => {
  pages.push(address);
  expect((await fetch(address)).status).toBe(200);
};

/** Opens the server for a program that keeps its credentials in the test's folder. */
function open(options: Partial<McpOptions> = {}, entry: object = {}): Promise<TestServers> {
  return TestServers.settled({ it: { url: server.url, ...entry } }, { credentials, ...options });
}

/** Returns the stored credentials. */
function kept(): { readonly address: string; readonly tokens?: { readonly access_token: string } } {
  const [name = ""] = readdirSync(credentials);
  return JSON.parse(readFileSync(join(credentials, name), "utf8"));
}

const signedIn = async () => {
  await using opened = await open({ openAddress });
  expect(opened.statuses).toEqual(["it: ready"]);
};

describe("B47: signing in", () => {
  test("the waiting user gets a page with PKCE, and later calls need no user", async () => {
    await signedIn();
    expect(pages).toHaveLength(1);
    const asked = Object.fromEntries(pages[0]?.searchParams ?? []);
    expect(asked).toMatchObject({ code_challenge_method: "S256", scope: "read", resource: server.url });
    expect(asked.redirect_uri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(asked.state?.length).toBeGreaterThan(30);
    await using later = await open();
    expect(await later.call("mcp_it_steps", { count: 0 })).toBe("done");
    expect(authority.at("/authorize")).toHaveLength(1);
  });

  test("only the user can read stored tokens", async () => {
    await signedIn();
    expect(statSync(credentials).mode & 0o777).toBe(0o700);
    const [file = "", ...others] = readdirSync(credentials);
    expect(others).toEqual([]);
    expect(statSync(join(credentials, file)).mode & 0o777).toBe(0o600);
    expect(kept()).toMatchObject({ address: server.url, tokens: { access_token: expect.any(String) } });
  });

  test("without a waiting user, the server is reported, no page opens and no client is registered", async () => {
    await using opened = await open();
    expect(opened.statuses).toEqual(["it: needs-auth"]);
    expect(opened.reason("it")).toBe(
      'The MCP server "it" wants you to sign in: open the servers with openAddress, so that a user can visit a page',
    );
    expect(authority.at("/register")).toEqual([]);
    expect(authority.at("/authorize")).toEqual([]);
    expect(opened.toolNames).toEqual([]);
  });

  test("B78: the program's sign-in instructions reach the user, and the model in a call", async () => {
    await signedIn();
    await using opened = await open({ howToSignIn: (name) => `npm start -- mcp login ${name}` });
    authority.revoke();
    const said = 'The MCP server "it" wants you to sign in: npm start -- mcp login it';
    await expect(opened.call("mcp_it_steps", { count: 0 })).rejects.toThrow(said);
    expect(opened.reason("it")).toBe(said);
  });

  test("an answer to another question does not count", async () => {
    const forged: number[] = [];
    await using opened = await open({
      openAddress: async (address) => {
        const way = address.searchParams.get("redirect_uri");
        for (const query of ["code=x", "code=x&state=y", `code=x&state=${address.searchParams.get("state")}z`])
          forged.push((await fetch(`${way}?${query}`)).status);
        forged.push((await fetch(new URL("/other", way ?? ""))).status);
        await openAddress(address);
      },
    });
    expect(forged).toEqual([400, 400, 400, 404]);
    expect(opened.statuses).toEqual(["it: ready"]);
  });

  test("a user who declines gets a message", async () => {
    await using opened = await open({
      openAddress: async ({ searchParams }) => {
        const way = new URL(searchParams.get("redirect_uri") ?? "");
        way.search = new URLSearchParams({ error: "access_denied", state: searchParams.get("state") ?? "" }).toString();
        await fetch(way);
      },
    });
    expect(opened.statuses).toEqual(["it: needs-auth"]);
    expect(opened.reason("it")).toContain("access_denied");
  });

  test("closing does not wait for an absent user", async () => {
    const opened = new TestServers(
      { it: { url: server.url } },
      { credentials, openAddress: (page) => void pages.push(page) },
    );
    await expect.poll(() => pages.length).toBe(1);
    await opened[Symbol.asyncDispose]();
    await expect(fetch(pages[0]?.searchParams.get("redirect_uri") ?? "")).rejects.toThrow();
  });
});

describe("B47: tokens", () => {
  test("are refreshed without a user", async () => {
    await signedIn();
    const { tokens } = kept();
    authority.expire();
    await using opened = await open();
    expect(opened.statuses).toEqual(["it: ready"]);
    expect(kept().tokens?.access_token).not.toBe(tokens?.access_token);
    authority.expire();
    expect(await opened.call("mcp_it_steps", { count: 0 })).toBe("done");
    authority.expire();
    await signedIn();
    expect(authority.at("/authorize")).toHaveLength(1);
    expect(authority.at("/register")).toHaveLength(1);
  });

  test("are refreshed by two programs at once without damage to each other's tokens", async () => {
    await signedIn();
    await using one = await open();
    await using other = await open();
    for (let round = 0; round < 5; round += 1) {
      authority.expire();
      const both = [one, other].map((opened) => opened.call("mcp_it_steps", { count: 0 }));
      expect(await Promise.all(both)).toEqual(["done", "done"]);
    }
    expect(authority.at("/authorize")).toHaveLength(1);
  });

  test("are refreshed once by several programs, even if the refreshing program fails", async () => {
    await signedIn();
    const script = `
      import { openMcpServers } from ${JSON.stringify(new URL("../index.ts", import.meta.url).href)};
      const [url, credentials] = process.argv.slice(1);
      const servers = openMcpServers({ servers: { it: { url } }, workspace: credentials, credentials, env: {} });
      await servers.settled();
      process.send(servers.states.map(({ status }) => status));
      process.on("message", async () => {
        const tool = servers.tools.find(({ name }) => name === "mcp_it_steps");
        process.send(await tool.execute({ count: 0 }, { signal: new AbortController().signal, progress() {} }));
      });`;
    const programs: ChildProcess[] = [];
    onTestFinished(() => void programs.map((program) => program.kill("SIGKILL")));
    const start = () => {
      const args = ["--input-type=module", "-e", script, server.url, credentials];
      const program = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
      programs.push(program);
      return program;
    };
    const refreshes = () => authority.asked.filter(({ values }) => values.grant_type === "refresh_token").length;
    const heldOnce = async (count: number) => {
      await expect.poll(refreshes, { timeout: 20_000 }).toBe(count);
      // A slow holder: the lock looks as if it were an hour old.
      const hourAgo = new Date(Date.now() - 3_600_000);
      for (const name of readdirSync(credentials))
        if (name.endsWith(".lock")) utimesSync(join(credentials, name), hourAgo, hourAgo);
      await sleep(1_000);
      expect(refreshes()).toBe(count);
    };
    let release = () => {};
    authority.beforeRefresh = () => new Promise((resolve) => (release = resolve));
    authority.expire();
    const killed = start();
    await expect.poll(refreshes, { timeout: 20_000 }).toBe(1);
    const requests = server.headers.length;
    const others = [start(), start(), start()];
    const ready = others.map((program) => once(program, "message"));
    await expect.poll(() => server.headers.length, { timeout: 20_000 }).toBeGreaterThan(requests + 2);
    await heldOnce(1);
    // The server has not seen its request yet, so the token is still good.
    authority.beforeRefresh = () => new Promise((resolve) => (release = resolve));
    killed.kill("SIGKILL");
    await heldOnce(2);
    authority.beforeRefresh = () => sleep(Math.random() * 50);
    release();
    expect(await Promise.all(ready)).toEqual(others.map(() => [["ready"], undefined]));
    expect(refreshes()).toBe(2);
    for (let round = 1; round <= 5; round += 1) {
      authority.expire();
      const called = others.map((program) => once(program, "message"));
      for (const program of others) program.send("call");
      expect(await Promise.all(called)).toEqual(others.map(() => ["done", undefined]));
      expect(refreshes()).toBe(2 + round);
    }
    expect(authority.at("/authorize")).toHaveLength(1);
    expect(readdirSync(credentials)).toHaveLength(1);
  });

  test("are refreshed again at once after an authorization server refused a refresh without a reason against the token", async () => {
    await signedIn();
    const refuse = Promise.reject(new Error("the scope is unknown"));
    refuse.catch(() => {});
    authority.beforeRefresh = () => refuse;
    authority.expire();
    await using opened = await open();
    expect(opened.statuses).not.toEqual(["it: ready"]);
    authority.beforeRefresh = async () => {};
    const began = performance.now();
    await opened.servers.reconnect("it");
    expect(opened.statuses).toEqual(["it: ready"]);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  test("need a user again when they are invalid for good", async () => {
    await signedIn();
    await using opened = await open();
    authority.revoke();
    await expect(opened.call("mcp_it_steps", { count: 0 })).rejects.toMatchObject({
      code: "sign-in",
      message: expect.stringContaining('"it" wants you to sign in: '),
    });
    expect(opened.statuses).toEqual(["it: needs-auth"]);
    await signedIn();
    expect(pages).toHaveLength(2);
    await opened.servers.reconnect("it");
    expect(opened.statuses).toEqual(["it: ready"]);
  });

  test("belong to an address: another server of the same name gets none of them", async () => {
    await signedIn();
    await using stranger = await guardedPuppet(() => authority);
    await using opened = await TestServers.settled({ it: { url: stranger.url } }, { credentials });
    expect(opened.statuses).toEqual(["it: needs-auth"]);
    expect(stranger.headers.filter(({ authorization }) => authorization !== undefined)).toEqual([]);
  });

  test("get more scope if a user is there", async () => {
    await using opened = await open({ openAddress });
    expect(await opened.call("mcp_it_echo", { text: "hello" })).toBe("hello");
    expect(pages.map(({ searchParams }) => searchParams.get("scope"))).toEqual(["read", "read write"]);
  });

  test("with too little scope are reported if no user is there, and the next page asks for more", async () => {
    await signedIn();
    await using opened = await open();
    await expect(opened.call("mcp_it_echo", { text: "hello" })).rejects.toMatchObject({ code: "sign-in" });
    expect(opened.statuses).toEqual(["it: needs-auth"]);
    expect(await opened.call("mcp_it_steps", { count: 0 })).toBe("done");
    authority.revoke();
    await signedIn();
    expect(pages.map(({ searchParams }) => searchParams.get("scope"))).toEqual(["read", "read write"]);
    // Servers that are already running use the new tokens too.
    expect(await opened.call("mcp_it_echo", { text: "hello" })).toBe("hello");
    expect(opened.statuses).toEqual(["it: ready"]);
  });
});

describe("B47: the fields of an entry for signing in", () => {
  test("a known client is not registered, and uses its own port", async () => {
    const callbackPort = await freePort();
    const way = `http://127.0.0.1:${callbackPort}/callback`;
    authority.clients.set("known", { ways: [way] });
    await using opened = await open(
      { openAddress },
      { oauth: { clientId: "known", callbackPort, scope: "read write" } },
    );
    expect(opened.statuses).toEqual(["it: ready"]);
    expect(authority.at("/register")).toEqual([]);
    expect(pages.map(({ searchParams }) => searchParams.get("scope"))).toEqual(["read write"]);
    expect(pages[0]?.searchParams.get("redirect_uri")).toBe(way);
    expect(await opened.call("mcp_it_echo", { text: "hello" })).toBe("hello");
  });

  test("S10: a client's secret goes only to its first authorization server, whatever the server says later", async () => {
    await using stranger = await AuthorizationServer.open();
    let named = authority;
    await using turncoat = await guardedPuppet(() => named);
    const callbackPort = await freePort();
    authority.clients.set("known", { ways: [`http://127.0.0.1:${callbackPort}/callback`], secret: "s3cret" });
    const entry = { url: turncoat.url, oauth: { clientId: "known", clientSecret: "s3cret", callbackPort } };
    {
      await using opened = await open({ openAddress }, entry);
      expect(opened.statuses).toEqual(["it: ready"]);
    }
    named = stranger;
    authority.expire();
    await using opened = await open({}, entry);
    expect(opened.statuses).toEqual(["it: needs-auth"]);
    expect(opened.reason("it")).toContain(`is registered at ${authority.issuer}. Nothing was sent.`);
    expect(stranger.asked.map(({ path }) => path)).toEqual(["/.well-known/oauth-authorization-server"]);
  });

  test("a program signs in by itself, with the secret of its own, at its own authorization server and no other", async () => {
    authority.clients.set("robot", { ways: [], secret: "s3cret" });
    const oauth = { grant: "client_credentials", clientId: "robot", clientSecret: `\${SECRET}`, scope: "read" };
    const env = { SECRET: "s3cret" };
    await using opened = await open({ env }, { oauth: { ...oauth, issuer: authority.issuer } });
    expect(opened.statuses).toEqual(["it: ready"]);
    expect(pages).toEqual([]);
    await using elsewhere = await open({ env }, { oauth: { ...oauth, issuer: "https://example.com/" } });
    expect(elsewhere.statuses).toEqual(["it: needs-auth"]);
    expect(authority.at("/token")).toHaveLength(1);
  });

  test("S10: headers of the entry go to its own server, not to where one signs in", async () => {
    await using opened = await open({ openAddress }, { headers: { "X-Api-Key": "mine" } });
    expect(opened.statuses).toEqual(["it: ready"]);
    expect(server.headers.every((sent) => sent["x-api-key"] === "mine")).toBe(true);
    expect(authority.asked.length).toBeGreaterThan(3);
    expect(authority.asked.filter(({ headers }) => headers["x-api-key"] !== undefined)).toEqual([]);
  });
});
