import { createServer } from "node:http";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { HttpPuppet } from "./testing/http-puppet.fixture.ts";
import { TestServers } from "./testing/surroundings.fixture.ts";

let puppet: HttpPuppet;
beforeEach(async () => {
  puppet = await HttpPuppet.open();
});
afterEach(() => puppet.close());

/** From now on time passes only when the test says so. */
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

  test("B47: progress and questions come along with the answer", async () => {
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

  test("B47: a call that is cancelled is cancelled at the server", async () => {
    await using opened = await TestServers.settled({ it: { url: puppet.url } });
    const control = new AbortController();
    const called = opened.call("mcp_it_wait", {}, { signal: control.signal });
    await opened.untilSaid("it", "waiting");
    control.abort(new Error("enough"));
    await expect(called).rejects.toThrow("enough");
    await expect.poll(() => puppet.puppet.heard.map(({ method }) => method)).toContain("notifications/cancelled");
  });

  test("B47: a call that shows no sign of life for as long as the entry allows is given up, and cancelled", async () => {
    await using opened = await TestServers.settled({ it: { url: puppet.url, timeout: 60_000 } });
    stopTheClock();
    const failed = expect(opened.call("mcp_it_wait")).rejects.toMatchObject({
      code: "silent",
      message:
        'The MCP server "it" failed: it gave no sign of life for 60,000 ms. Whether this took effect is unknown.',
    });
    await opened.untilSaid("it", "waiting");
    vi.advanceTimersByTime(60_000);
    await failed;
    await expect.poll(() => puppet.puppet.heard.map(({ method }) => method)).toContain("notifications/cancelled");
    expect(opened.statuses).toEqual(["it: ready"]);
  });

  test("B47: the time of a call does not run while somebody is asked", async () => {
    await using opened = await TestServers.settled({ it: { url: puppet.url, timeout: 60_000 } });
    stopTheClock();
    const params = { mode: "form", message: "Well?", requestedSchema: { type: "object", properties: {} } };
    const ask = async () => {
      vi.advanceTimersByTime(90_000);
      return "decline";
    };
    expect(JSON.parse(await opened.call("mcp_it_elicit", { params }, { ask }))).toEqual({ action: "decline" });
  });

  test("B47: a session that the server forgot is begun anew, and the call is made again", async () => {
    await using opened = await TestServers.settled({ it: { url: puppet.url } });
    puppet.forget();
    expect(await opened.call("mcp_it_echo", { text: "again" })).toBe("again");
    expect(opened.statuses).toEqual(["it: ready"]);
  });

  test("B47: a session that the server forgot is begun anew without a call too, when its stream cannot be opened", async () => {
    await using opened = await TestServers.settled({ it: { url: puppet.url } });
    await expect.poll(() => puppet.listened).toBe(1);
    puppet.forget();
    puppet.cut();
    await expect.poll(() => puppet.sessions).toBe(1);
    await expect.poll(() => opened.statuses).toEqual(["it: ready"]);
  });

  test("B47: a server that goes away is looked for, and found when it is back", async () => {
    await using opened = await TestServers.settled(
      { it: { url: puppet.url } },
      { reconnect: { delay: 10, attempts: 1 } },
    );
    await puppet.close();
    await expect(opened.call("mcp_it_echo")).rejects.toMatchObject({ code: "gone" });
    await expect.poll(() => opened.statuses).toEqual(["it: failed"]);
    await expect(opened.call("mcp_it_echo")).rejects.toThrow('The MCP server "it" is not there: it cannot be reached');
    await puppet.listen();
    expect(await opened.call("mcp_it_echo", { text: "back" })).toBe("back");
    expect(opened.statuses).toEqual(["it: ready"]);
  });

  test("B47: what the server says by itself is heard again after its stream broke", async () => {
    await using opened = await TestServers.settled({ it: { url: puppet.url } });
    await expect.poll(() => puppet.listened).toBe(1);
    puppet.cut();
    await expect.poll(() => puppet.listened).toBe(2);
    puppet.say({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "still here" } });
    await opened.untilSaid("it", "still here");
  });

  test("a key that is refused is said to be, and nobody is asked to sign in", async () => {
    await using strict = await HttpPuppet.open({}, (_, response) => {
      response.writeHead(401).end();
      return true;
    });
    await using opened = await TestServers.settled(
      { it: { url: strict.url, headers: { authorization: "Bearer x" } } },
      { credentials: "none" },
    );
    expect(opened.statuses).toEqual(["it: needs-auth"]);
    expect(opened.reason("it")).toBe("it refuses the credentials that it was given (401)");
  });

  test("B47: a server that breaks down at the newer handshake is spoken to in the older protocol", async () => {
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

  test("B47: an address that never answers is given up in time", async () => {
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
