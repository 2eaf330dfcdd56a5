import { describe, expect, test } from "vitest";
import { HttpPuppet } from "./testing/http-puppet.fixture.ts";
import { TestServers } from "./testing/surroundings.fixture.ts";

/** An invalid response: status, content type and body. */
type Body = readonly [status: number, type: string | undefined, body: string];

const PAGE = `<!DOCTYPE html><html><head><title>502 Bad\nGateway</title></head><body>${"<p>nginx</p>".repeat(200)}</body></html>`;
const CUT = '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"te';
const EVENTS = "text/event-stream";

const BODIES: readonly (readonly [body: Body, reason: string])[] = [
  [
    [200, "text/html; charset=utf-8", PAGE],
    'it answered with a web page ("502 Bad Gateway"), not with JSON-RPC; check the url',
  ],
  [
    [200, "application/json", PAGE],
    'it answered with a web page ("502 Bad Gateway"), not with JSON-RPC; check the url',
  ],
  [[200, "text/html", "<html></html>"], "it answered with a web page, not with JSON-RPC; check the url"],
  [[200, "text/plain", "Starting\nup"], 'it answered with text ("Starting up"), not with JSON-RPC; check the url'],
  [[200, "application/json", '{"status":"ok"}'], "it answered with JSON, not with JSON-RPC; check the url"],
  [[200, "application/json", "null"], 'it answered with JSON ("null"), not with JSON-RPC; check the url'],
  [[200, "application/json", "[]"], "it answered with JSON, not with JSON-RPC; check the url"],
  [
    [200, "application/json", '{"error":"upstream timed out"}'],
    'it answered with JSON ("upstream timed out"), not with JSON-RPC; check the url',
  ],
  [[200, "application/json", '{"jsonrpc":"2.0","id":"x","result":{}}'], "it answered another request"],
  [
    [200, "application/json", '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}'],
    "it answered: Parse error",
  ],
  [[500, "text/html", PAGE], "it answered with the status 500 (502 Bad Gateway)"],
  [[400, "text/plain", "What is\nthis?"], "it answered with the status 400 (What is this?)"],
  [[400, "application/json", '{"error":{"message":"No such tool"}}'], "it answered with the status 400 (No such tool)"],
  [[500, undefined, ""], "it answered with the status 500"],
];

/** With these responses, it is unknown whether a call had an effect. */
const BROKEN: readonly (readonly [body: Body, reason: string])[] = [
  [[200, "application/json", ""], "it answered with an empty body"],
  [[200, undefined, ""], "it answered with an empty body"],
  [[200, "application/json", CUT], "its answer is JSON that breaks off"],
  [[200, EVENTS, ""], "its stream of events ended without an answer"],
  [[200, EVENTS, PAGE], "its stream of events ended without an answer"],
  [[200, EVENTS, `event: message\ndata: ${CUT}\n\n`], "its stream of events ended without an answer"],
];

/** A server that answers messages of one method with an invalid body. */
async function odd(method: string, next: () => Body): Promise<HttpPuppet> {
  const server = await HttpPuppet.open();
  server.instead = (message, response) => {
    if (message.method !== method) return false;
    const [status, type, body] = next();
    response.writeHead(status, type ? { "content-type": type } : {}).end(body);
    return true;
  };
  return server;
}

describe("F50: an HTTP answer that is no JSON-RPC causes one sentence", () => {
  test.each([...BODIES, ...BROKEN])("the handshake reports %j", async (body, reason) => {
    await using server = await odd("initialize", () => body);
    await using opened = await TestServers.settled({ it: { url: server.url } });
    expect(opened.statuses).toEqual(["it: failed"]);
    expect(opened.reason("it")).toBe(reason);
  });

  test("a call reports the answer, and that its effect is unknown", async () => {
    let body: Body = [200, undefined, ""];
    await using server = await odd("tools/call", () => body);
    await using opened = await TestServers.settled({ it: { url: server.url } });
    for (const [one, reason] of [...BODIES, ...BROKEN]) {
      body = one;
      const doubt = BROKEN.some(([broken]) => broken === one) ? " It is unknown whether the request took effect." : "";
      const failed = opened.call("mcp_it_echo", { text: "a" });
      await expect(failed, one.join(" ")).rejects.toThrow(`The MCP server "it" failed: ${reason}.${doubt}`);
    }
  });

  test("a list of tools reports the answer", async () => {
    await using server = await odd("tools/list", () => [200, "text/html", PAGE]);
    await using opened = await TestServers.settled({ it: { url: server.url } });
    expect(opened.reason("it")).toBe(
      'it answered with a web page ("502 Bad Gateway"), not with JSON-RPC; check the url',
    );
  });

  test("random answers cause one sentence", async () => {
    let state = 7;
    const up = (most: number) => {
      state = (Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9) | 0;
      return (state >>> 4) % most;
    };
    const of = <Item>(...items: readonly Item[]) => items[up(items.length)] as Item;
    const piece = () =>
      of(
        PAGE,
        CUT,
        "data: ",
        "\n\n",
        '{"a":',
        "[",
        '"',
        "null",
        "\x1b[31m",
        "\0",
        "event: x\n",
        "<b>",
        "🌳".repeat(90),
        "words ",
      );
    const body = (): Body => [
      of(200, 200, 200, 201, 400, 422, 500),
      of(undefined, "application/json", "text/html", "text/plain", EVENTS),
      Array.from({ length: up(4) }, piece)
        .join("")
        .slice(0, of(7, 50, 9_000)),
    ];
    await using server = await odd("tools/call", body);
    await using opened = await TestServers.settled({ it: { url: server.url } });
    for (let count = 0; count < (process.env.BANYAN_LONG ? 2_000 : 60); count++) {
      const said = await opened.call("mcp_it_echo", {}).catch((error: Error) => error.message);
      expect(said).toMatch(/^The MCP server "it" failed: it[^\n\p{Cc}]{0,300}\.$/u);
      expect(said).not.toMatch(/unexpected (token|end)|in JSON at|<[a-z!]|Error POSTing|undefined/i);
      expect(said.isWellFormed()).toBe(true);
    }
  });

  test("JSON-RPC of another content type is the answer", async () => {
    await using server = await HttpPuppet.open();
    server.instead = ({ method, id }, response) => {
      if (method !== "tools/call") return false;
      const content = [{ type: "text", text: "as text" }];
      response.writeHead(200, { "content-type": "text/plain" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result: { content } }));
      return true;
    };
    await using opened = await TestServers.settled({ it: { url: server.url } });
    expect(await opened.call("mcp_it_echo", {})).toBe("as text");
  });
});
