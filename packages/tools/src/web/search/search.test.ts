import { describe, expect, test } from "vitest";
import { call } from "../../workspace/test-folder.fixture.ts";
import {
  braveSearch,
  type SearchProvider,
  searchProvider,
  searxngSearch,
  tavilySearch,
  webSearchTool,
  webTools,
} from "../index.ts";
import { sendTo, TestServer } from "../web.fixture.ts";

const json = (body: unknown) => TestServer.give(JSON.stringify(body), { "content-type": "application/json" });
const { signal } = new AbortController();
const found = [{ title: "One", address: "https://one.example/", snippet: "First." }];

describe("requests to the services, and their answers", () => {
  test("Brave Search", async () => {
    await using server = await json({
      type: "search",
      query: { original: "a b" },
      web: {
        type: "search",
        results: [{ title: "One", url: "https://one.example/", description: "First.", age: "1 day" }],
      },
    });
    const provider = braveSearch({ key: "k", endpoint: `${server.url}/res/v1/web/search` });
    expect(await provider.search("a & b?", { limit: 50, signal })).toEqual(found);
    expect(server.received).toMatchObject([
      {
        method: "GET",
        url: "/res/v1/web/search?q=a+%26+b%3F&count=20&text_decorations=false",
        headers: { "x-subscription-token": "k", accept: "application/json" },
      },
    ]);
  });

  test("Brave Search, which found nothing", async () => {
    await using server = await json({ type: "search", query: {} });
    expect(await braveSearch({ key: "k", endpoint: server.url }).search("x", { limit: 5, signal })).toEqual([]);
  });

  test("Tavily", async () => {
    await using server = await json({
      query: "a",
      response_time: 0.5,
      results: [{ title: "One", url: "https://one.example/", content: "First.", score: 0.9, raw_content: null }],
    });
    expect(
      await tavilySearch({ key: "k", endpoint: `${server.url}/search` }).search("a", { limit: 3, signal }),
    ).toEqual(found);
    const [{ method, url, headers, body } = {} as never] = server.received;
    expect([method, url, headers.authorization, headers["content-type"]]).toEqual([
      "POST",
      "/search",
      "Bearer k",
      "application/json",
    ]);
    expect(JSON.parse(body)).toEqual({ query: "a", max_results: 3, search_depth: "basic" });
  });

  test("SearXNG, below a path, which gives more than was asked for", async () => {
    const one = { title: "One", url: "https://one.example/", content: "First.", engine: "x" };
    await using server = await json({
      query: "a",
      results: [one, { ...one, title: "Two", content: null }, one],
      answers: [],
    });
    const results = await searxngSearch({ url: `${server.url}/searx/` }).search("a b", { limit: 2, signal });
    expect(results).toEqual([found[0], { ...found[0], title: "Two", snippet: "" }]);
    expect(server.received).toMatchObject([{ url: "/searx/search?q=a+b&format=json" }]);
  });
});

describe("when a service fails", () => {
  const search = (endpoint: string, options = { limit: 5, signal }) =>
    braveSearch({ key: "secret-key", endpoint }).search("x", options);

  test.each([
    [401, "Ask the user to check the settings"],
    [403, "Ask the user to check the settings"],
    [429, "Too many searches"],
    [500, "an inner reason"],
  ])("status %i causes an error with a remedy", async (status, hint) => {
    await using server = await TestServer.start((_, response) => response.writeHead(status).end("an inner reason"));
    await expect(search(server.url)).rejects.toMatchObject({ code: "status", message: expect.stringContaining(hint) });
  });

  test.each(["no json", "[]", '{"web":{"results":[{"title":1}]}}'])(
    "an answer of another form causes an error: %s",
    async (body) => {
      await using server = await TestServer.give(body);
      await expect(search(server.url)).rejects.toMatchObject({ code: "content" });
    },
  );

  test("an endless answer is not read to its end", async () => {
    await using server = await TestServer.start((_, response) => {
      const more = () => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
      };
      response.on("drain", more);
      more();
    });
    await expect(search(server.url)).rejects.toThrow("sent a response that is too large");
  });

  test("a key is not carried elsewhere", async () => {
    await using other = await json({});
    await using server = await TestServer.start((_, response) => sendTo(response, other.url));
    await expect(search(server.url)).rejects.toMatchObject({ code: "network" });
    expect(other.received).toEqual([]);
  });

  test("a cancelled search ends", async () => {
    const cancel = new AbortController();
    await using server = await TestServer.start(() => cancel.abort(new Error("cancelled")));
    await expect(search(server.url, { limit: 5, signal: cancel.signal })).rejects.toThrow("cancelled");
  });
});

describe("the tool", () => {
  const giving = (...results: Awaited<ReturnType<SearchProvider["search"]>>): SearchProvider => ({
    search: async () => results,
  });

  test("the tool exists if a service is configured, and has effects, so that Banyan asks for it (B63)", () => {
    expect(webTools({ search: giving() }).map(({ name, effects, parallel }) => [name, effects, parallel])).toEqual([
      ["fetch", "none", undefined],
      ["web_search", "idempotent", true],
    ]);
  });

  test("the tool returns titles, addresses and snippets", async () => {
    const tool = webSearchTool(giving(found[0]!, { title: "", address: "http://two.example/ä", snippet: "" }));
    expect(await call(tool, { query: "x" })).toBe(
      "1. One\n   https://one.example/\n   First.\n\n2. [no title]\n   http://two.example/%C3%A4",
    );
    expect(await call(webSearchTool(giving()), { query: "x" })).toBe("[nothing was found]");
  });

  test("S12: results are plain text on lines of their own, bounded, with addresses of the web only", async () => {
    const evil = {
      title: "\x1b[31mA\n<strong>b</strong>",
      address: "https://e.example/\x1bx",
      snippet: `\x1b]0;x\x07${"y ".repeat(5000)}`,
    };
    const tool = webSearchTool(
      giving(evil, { ...evil, address: "javascript:alert(1)" }, { ...evil, address: "not an address" }),
    );
    const said = await call(tool, { query: "x" });
    expect(said).toMatch(/^1\. A b\n {3}https:\/\/e\.example\/%1Bx\n {3}y [y ]*…$/);
    expect(said.length).toBeLessThan(800);
    expect(
      (
        await call(webSearchTool(giving(...Array.from({ length: 30 }, () => found[0]!))), { query: "x", limit: 3 })
      ).match(/^\d/gm),
    ).toHaveLength(3);
  });
});

describe("the service is chosen by settings", () => {
  test("the key comes from the environment", async () => {
    await using server = await json({ results: [] });
    const provider = searchProvider({ provider: "tavily", url: server.url }, { TAVILY_API_KEY: "t" });
    await provider.search("x", { limit: 1, signal });
    expect(server.received[0]?.headers.authorization).toBe("Bearer t");
  });

  test.each([
    [{ provider: "brave" }, "Set BRAVE_API_KEY"],
    [{ provider: "tavily" }, "Set TAVILY_API_KEY"],
    [{ provider: "searxng" }, "Set search.url"],
    [{ provider: "altavista" }, "no search service 'altavista'"],
  ])("the error for %j names the missing part", (settings, reason) => {
    expect(() => searchProvider(settings, { BRAVE_API_KEY: " " })).toThrow(reason);
  });
});
