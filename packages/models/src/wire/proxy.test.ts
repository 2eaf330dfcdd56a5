import { request as ask } from "node:http";
import { describe, expect, test } from "vitest";
import { resolveModel } from "../resolve.ts";
import { bodyOf, serve } from "../testing/server.ts";
import { answerOf, say } from "../testing/sink.ts";

/** A proxy that takes every request to one server, whatever it was for, and keeps what it was for. */
async function proxyTo(server: string) {
  const asked: string[] = [];
  const proxy = await serve(async (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const body = await bodyOf(request);
    const { host: _host, ...headers } = request.headers;
    const passed = ask(new URL(new URL(request.url ?? "").pathname, server), { method: "POST", headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.end(body);
  });
  return {
    address: proxy.baseURL.replace(/\/v1$/, ""),
    asked,
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}

const saysNo = () =>
  serve((request, response) => {
    request.resume();
    response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"Not today"}}');
  });

const ways = [
  { model: "anthropic/claude-sonnet-5", address: "ANTHROPIC_BASE_URL", path: "/v1/messages" },
  {
    model: "anthropic/claude-haiku-4-5",
    address: "ANTHROPIC_BASE_URL",
    path: "/v1/messages",
    driver: "package" as const,
  },
  { model: "openai-chat/gpt-4o", address: "OPENAI_BASE_URL", path: "/v1/chat/completions" },
  { model: "openai/gpt-5", address: "OPENAI_BASE_URL", path: "/v1/responses" },
];

describe("proxies that the environment names", () => {
  async function askedFor({ model, address, driver }: (typeof ways)[number], env: Record<string, string>) {
    const keys = { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k", [address]: "http://models.example", ...env };
    const found = await resolveModel(model, { env: keys, overrides: driver ? { [model]: { driver } } : {} });
    return answerOf(found, say("Hello")).catch((error: Error) => error.message);
  }

  test.each(ways)("are taken by $model (driver: $driver)", async (way) => {
    await using server = await saysNo();
    await using proxy = await proxyTo(server.baseURL);
    expect(await askedFor(way, { HTTP_PROXY: proxy.address.replace("http://", "") })).toContain("Not today");
    expect(proxy.asked).toEqual([`POST http://models.example${way.path}`]);
  });

  test.each(ways)("are passed by for what is on this machine, or is named in NO_PROXY: $model", async (way) => {
    await using server = await saysNo();
    await using proxy = await proxyTo(server.baseURL);
    const here = { [way.address]: server.baseURL };
    expect(await askedFor(way, { http_proxy: proxy.address, ...here })).toContain("Not today");
    const unreachable = await askedFor(way, { http_proxy: proxy.address, no_proxy: "models.example" });
    expect(unreachable).toContain("models.example");
    expect(proxy.asked).toEqual([]);
  });

  test("are refused by the name of their variable when they are none", async () => {
    await expect(askedFor(ways[0] as (typeof ways)[number], { HTTPS_PROXY: "http://a b" })).rejects.toThrow(
      "HTTPS_PROXY",
    );
  });
});
