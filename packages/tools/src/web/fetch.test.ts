import { describe, expect, test } from "vitest";
import { call } from "../workspace/test-folder.fixture.ts";
import { fetchTool, webTools } from "./index.ts";
import { fetchHere, sendTo, TestServer } from "./web.fixture.ts";

test("B36: fetch returns a page's address, its title and its text as Markdown, and has no effects", async () => {
  const html =
    "<!doctype html><html><head><title>A\n page</title></head><body><h1>Head</h1><p>Some <b>text</b>.</body></html>";
  await using server = await TestServer.give(html, { "content-type": "text/html; charset=utf-8" });
  expect(await fetchHere(`${server.url}/a?b#c`)).toBe(
    `Address: ${server.url}/a?b#c\nTitle: A page\n\n## Head\n\nSome **text**.`,
  );
  expect(webTools().map(({ name, effects }) => [name, effects])).toEqual([["fetch", "none"]]);
});

describe("allowed addresses", () => {
  test.each([
    ["file:///etc/passwd", "addresses are fetched, not file: addresses"],
    ["data:text/html,<p>x", "addresses are fetched, not data: addresses"],
    ["ftp://example.org/", "addresses are fetched, not ftp: addresses"],
    ["javascript:alert(1)", "addresses are fetched, not javascript: addresses"],
    ["view-source:https://example.org", "addresses are fetched, not view-source: addresses"],
    ["example.org", "is not a web address"],
    ["/etc/passwd", "is not a web address"],
    ["http://", "is not a web address"],
    ["http://user@example.org/", "user name or password"],
    ["https://user:password@example.org/", "user name or password"],
    ["https://:password@example.org/", "user name or password"],
  ])("S11: fetch refuses %s", async (url, reason) => {
    await expect(call(fetchTool(), { url })).rejects.toMatchObject({
      code: "address",
      message: expect.stringContaining(reason),
    });
  });

  test.each([
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0x7f.0x0.0x0.0x1",
    "0177.0.0.1",
    "017700000001",
    "127.0.0.1.",
    "%31%32%37.0.0.1",
    "１２７.0.0.1",
    "0",
    "0.0.0.0",
    "localhost",
    "LOCALHOST",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
  ])("S11: fetch refuses this machine, written as %s", async (host) => {
    await using server = await TestServer.give("secret");
    await expect(call(fetchTool(), { url: `http://${host}:${server.port}/` })).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("is not on the public internet"),
    });
    expect(server.received).toEqual([]);
  });

  test.each(["10.0.0.1", "169.254.169.254", "[fe80::1]", "[fd00:ec2::254]", "100.64.0.1", "224.0.0.1"])(
    "S11: fetch refuses %s",
    async (host) => {
      await expect(call(fetchTool(), { url: `http://${host}/latest/meta-data` })).rejects.toMatchObject({
        code: "forbidden",
      });
    },
  );

  test.each([
    ["a private address", ["10.1.2.3"]],
    ["a public and a private address", ["93.184.216.34", "127.0.0.1"]],
    ["an IPv4 address in IPv6", ["::ffff:127.0.0.1"]],
  ])("S11: fetch refuses a name that leads to %s", async (_, addresses) => {
    const options = { resolve: async () => addresses, timeout: 5000 };
    await expect(call(fetchTool(options), { url: "http://innocent.example/" })).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining(`innocent.example (${addresses.at(-1)})`),
    });
  });

  test.each([25, 22, 6667])("S11: fetch refuses port %i, which does not serve pages", async (port) => {
    await expect(fetchHere(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      code: "network",
      message: expect.stringContaining("bad port"),
    });
  });

  test("S11: a connection uses the checked address, even if the name changes its address (rebinding)", async () => {
    await using server = await TestServer.start((request, response) => {
      // The next request needs a new connection, and therefore a new look-up.
      response.setHeader("connection", "close");
      if (request.url === "/once") response.end("hello");
      else sendTo(response, "/again");
    });
    const asked: string[] = [];
    const answers = [["127.0.0.1"], ["127.0.0.1"], ["127.0.0.2"]];
    const resolve = async (host: string) => {
      asked.push(host);
      return answers.shift() ?? [];
    };
    const host = `rebinding.example:${server.port}`;
    expect(await fetchHere(`http://${host}/once`, { resolve })).toMatch(/hello$/);
    expect(asked).toEqual(["rebinding.example"]);
    await expect(fetchHere(`http://${host}/twice`, { resolve })).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("127.0.0.2"),
    });
    expect(server.received.map(({ url, headers }) => [url, headers.host])).toEqual([
      ["/once", host],
      ["/twice", host],
    ]);
  });

  test("fetch reports an unknown name and a missing server", async () => {
    await expect(fetchHere("http://nowhere.example/", { resolve: async () => [] })).rejects.toThrow(
      "has no IP address",
    );
    const gone = await TestServer.give("");
    const { url } = gone;
    await gone[Symbol.asyncDispose]();
    await expect(fetchHere(url)).rejects.toMatchObject({
      code: "network",
      message: expect.stringMatching(/could not be fetched: .*ECONNREFUSED/),
    });
  });
});
