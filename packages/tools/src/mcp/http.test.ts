import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { HttpPuppet } from "./testing/http-puppet.fixture.ts";
import { type Message, Puppet } from "./testing/puppet.fixture.ts";
import { TestServers } from "./testing/surroundings.fixture.ts";

let puppet: HttpPuppet;
beforeEach(async () => {
  puppet = await HttpPuppet.open();
});
afterEach(() => puppet.close());

/** Stops the clock: from now on the test moves the time. */
function stopTheClock(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
}

describe("streamable HTTP", () => {
  test("B47: tools, prompts and resources are there, and the session is ended when it is over", async () => {
    await using opened = await TestServers.settled({ it: { url: puppet.url } });
    expect(opened.statuses).toEqual(["it: ready"]);
    expect(await opened.call("mcp_it_echo", { text: "hello" })).toBe("hello");
    expect(opened.servers.prompts).toHaveLength(1);
    expect(puppet.sessions).toBe(1);
    await opened.servers.close();
    expect(puppet.sessions).toBe(0);
  });

  test("B47: the headers of the entry are sent, filled in", async () => {
    const headers = { Authorization: `Bearer \${TOKEN}`, "X-Plain": "yes" };
    await using opened = await TestServers.settled({ it: { url: puppet.url, headers } }, { env: { TOKEN: "secret" } });
    await opened.call("mcp_it_echo", {});
    expect(puppet.headers.length).toBeGreaterThan(3);
    for (const sent of puppet.headers) expect(sent).toMatchObject({ authorization: "Bearer secret", "x-plain": "yes" });
  });

  test("B47: a call over HTTP gets progress and questions before its answer", async () => {
    await using opened = await TestServers.settled({ it: { url: puppet.url } });
    let shown = "";
    const progress = (text: string) => {
      shown += text;
    };
    expect(await opened.call("mcp_it_steps", { count: 2 }, { progress })).toBe("done");
    expect(shown).toBe("step (1 of 2)\nstep (2 of 2)\n");
    const params = { mode: "form", message: "Well?", requestedSchema: { type: "object", properties: {} } };
    const said = await opened.call("mcp_it_elicit", { params }, { ask: async () => "answer" });
    expect(JSON.parse(said)).toEqual({ action: "accept", content: {} });
  });

  test("B47: a cancelled call is cancelled at the server", async () => {
    await using opened = await TestServers.settled({ it: { url: puppet.url } });
    const control = new AbortController();
    const called = opened.call("mcp_it_wait", {}, { signal: control.signal });
    await opened.untilSaid("it", "waiting");
    control.abort(new Error("enough"));
    await expect(called).rejects.toThrow("enough");
    await expect.poll(() => puppet.puppet.heard.map(({ method }) => method)).toContain("notifications/cancelled");
  });

  test("B47: a call without a sign of life for the entry's timeout fails, and is cancelled", async () => {
    await using opened = await TestServers.settled({ it: { url: puppet.url, timeout: 60_000 } });
    stopTheClock();
    const failed = expect(opened.call("mcp_it_wait")).rejects.toMatchObject({
      code: "silent",
      message:
        'The MCP server "it" failed: it gave no sign of life for 60,000 ms. It is unknown whether the request took effect.',
    });
    await opened.untilSaid("it", "waiting");
    vi.advanceTimersByTime(60_000);
    await failed;
    await expect.poll(() => puppet.puppet.heard.map(({ method }) => method)).toContain("notifications/cancelled");
    expect(opened.statuses).toEqual(["it: ready"]);
  });

  test("B47: the timeout of a call stops during a question to the user", async () => {
    await using opened = await TestServers.settled({ it: { url: puppet.url, timeout: 60_000 } });
    stopTheClock();
    const params = { mode: "form", message: "Well?", requestedSchema: { type: "object", properties: {} } };
    const ask = async () => {
      vi.advanceTimersByTime(90_000);
      return "decline";
    };
    expect(JSON.parse(await opened.call("mcp_it_elicit", { params }, { ask }))).toEqual({ action: "decline" });
  });

  test("B47: after the server forgot a session, the client begins a new session and repeats the call", async () => {
    await using opened = await TestServers.settled({ it: { url: puppet.url } });
    puppet.forget();
    expect(await opened.call("mcp_it_echo", { text: "again" })).toBe("again");
    expect(opened.statuses).toEqual(["it: ready"]);
  });

  test.each(["Bad Request: No valid session ID provided", "Session expired, initialize again", "Invalid session"])(
    "F57: session-400: %s: one new session, and the call again",
    async (message) => {
      let forgotten: string | undefined;
      await using server = await HttpPuppet.open({}, ({ headers }, response) => {
        const session = headers["mcp-session-id"];
        if (session === undefined || session !== forgotten) return false;
        response.writeHead(400, { "content-type": "application/json" });
        response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32000, message } }));
        return true;
      });
      await using opened = await TestServers.settled({ it: { url: server.url } });
      forgotten = server.headers.findLast((headers) => headers["mcp-session-id"])?.["mcp-session-id"] as string;
      expect(await opened.call("mcp_it_echo", { text: "again" })).toBe("again");
      expect(server.puppet.heard.filter(({ method }) => method === "tools/call")).toHaveLength(1);
      expect(server.puppet.heard.filter(({ method }) => method === "initialize")).toHaveLength(2);
      expect(opened.statuses).toEqual(["it: ready"]);
    },
  );

  /** A server that supports a single version, and refuses others in its own way. */
  async function picky(version: string, refuse: (response: ServerResponse, message: Message, version: string) => void) {
    const puppet = new Puppet();
    const offered: string[] = [];
    const server = createServer(async (request, response) => {
      if (request.method !== "POST") return void response.writeHead(405).end();
      const message = (await json(request)) as Message;
      if (message.id === undefined) return void response.writeHead(202).end();
      const asked = message.params?.protocolVersion ?? request.headers["mcp-protocol-version"] ?? version;
      if (message.method === "initialize") offered.push(asked);
      if (asked !== version) return refuse(response, message, asked);
      response.writeHead(200, { "content-type": "application/json" });
      await puppet.take(message, (answer) => {
        const result =
          message.method === "initialize" ? { ...(answer.result as object), protocolVersion: version } : answer.result;
        response.end(JSON.stringify({ ...answer, ...(answer.result !== undefined && { result }) }));
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const end = async () => {
      server.close();
      server.closeAllConnections();
    };
    return { url, offered, [Symbol.asyncDispose]: end };
  }

  test.each(["2025-06-18", "2024-11-05"])(
    "F57: version-400: the newest version that the server names is tried: %s",
    async (version) => {
      await using server = await picky(version, (response, { id }, asked) => {
        const message = `Unsupported protocol version: ${asked} (supported versions: 2024-10-07, ${version}, 2031-01-01)`;
        response.writeHead(400, { "content-type": "application/json" });
        response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32000, message } }));
      });
      await using opened = await TestServers.settled({ it: { url: server.url } });
      expect(opened.statuses).toEqual(["it: ready"]);
      expect(await opened.call("mcp_it_echo", { text: "old" })).toBe("old");
      expect(server.offered.filter((offered) => offered === version)).toHaveLength(1);
    },
  );

  test("F57: a server without a known version fails with its own words, and gets no more requests", async () => {
    await using server = await picky("1999-01-01", (response) =>
      response.writeHead(400).end("Unsupported protocol version (supported: 1999-01-01)"),
    );
    await using opened = await TestServers.settled({ it: { url: server.url } }, { reconnect: { attempts: 0 } });
    expect(opened.statuses[0]).toContain("it: failed");
    expect(server.offered.length).toBeLessThanOrEqual(2);
  });

  test("B47: the client begins a new session without a call if the server forgot the session of a stream", async () => {
    await using opened = await TestServers.settled({ it: { url: puppet.url } });
    await expect.poll(() => puppet.listened).toBe(1);
    puppet.forget();
    puppet.cut();
    await expect.poll(() => puppet.sessions).toBe(1);
    await expect.poll(() => opened.statuses).toEqual(["it: ready"]);
  });

  test("B47: the client retries a lost server, and reconnects when the server is back", async () => {
    await using opened = await TestServers.settled(
      { it: { url: puppet.url } },
      { reconnect: { delay: 10, attempts: 1 } },
    );
    await puppet.close();
    await expect(opened.call("mcp_it_echo")).rejects.toMatchObject({ code: "gone" });
    await expect.poll(() => opened.statuses).toEqual(["it: failed"]);
    await expect(opened.call("mcp_it_echo")).rejects.toThrow(
      'The MCP server "it" is not available: it cannot be reached',
    );
    await puppet.listen();
    expect(await opened.call("mcp_it_echo", { text: "back" })).toBe("back");
    expect(opened.statuses).toEqual(["it: ready"]);
  });

  test("B47: the client receives the server's notifications again after their stream broke", async () => {
    await using opened = await TestServers.settled({ it: { url: puppet.url } });
    await expect.poll(() => puppet.listened).toBe(1);
    puppet.cut();
    await expect.poll(() => puppet.listened).toBe(2);
    puppet.say({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "still here" } });
    await opened.untilSaid("it", "still here");
  });

  test("the error for a refused key says so, and asks no user to sign in", async () => {
    await using strict = await HttpPuppet.open({}, (_, response) => {
      response.writeHead(401).end();
      return true;
    });
    await using opened = await TestServers.settled(
      { it: { url: strict.url, headers: { authorization: "Bearer x" } } },
      { credentials: "none" },
    );
    expect(opened.statuses).toEqual(["it: needs-auth"]);
    expect(opened.reason("it")).toBe("it refuses these credentials (401)");
  });

  test("B47: the client uses the older protocol if the server fails at the newer handshake", async () => {
    let asked = 0;
    await using fragile = await HttpPuppet.open({}, (request, response) => {
      asked += 1;
      if (request.headers["mcp-method"] !== "server/discover") return false;
      response.writeHead(500).end("What is that?");
      return true;
    });
    await using opened = await TestServers.settled({ it: { url: fragile.url } });
    expect(opened.statuses).toEqual(["it: ready"]);
    expect(asked).toBeGreaterThan(1);
  });

  test("B47: the client gives up an address without an answer in time", async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as { port: number };
    await using opened = await TestServers.settled({ it: { url: `http://127.0.0.1:${port}/`, timeout: 300 } });
    expect(opened.reason("it")).toBe("it gave no answer in time");
    silent.closeAllConnections();
    silent.close();
  });
});

describe("the newer protocol", () => {
  test("B47: is spoken where the server has it, and needs no session", async () => {
    await using modern = await HttpPuppet.open({ modern: true });
    await using opened = await TestServers.settled({ it: { url: modern.url } });
    expect(opened.statuses).toEqual(["it: ready"]);
    expect(await opened.call("mcp_it_echo", { text: "hello" })).toBe("hello");
    expect(modern.puppet.heard.map(({ method }) => method)).not.toContain("initialize");
    expect(opened.servers.instructions("it")).toBe("Pull the strings.");
  });

  test("B47: tools that change are heard of, also after the stream for that broke", async () => {
    await using modern = await HttpPuppet.open({ modern: true });
    await using opened = await TestServers.settled({ it: { url: modern.url } });
    expect(opened.toolNames).not.toContain("mcp_it_grown");
    modern.cut();
    modern.puppet.grow();
    await expect.poll(() => opened.toolNames).toContain("mcp_it_grown");
  });
});
