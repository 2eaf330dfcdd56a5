import { request as send } from "node:http";
import { describe, expect, test } from "vitest";
import { embeddingModel } from "../embedding.ts";
import { resolveModel } from "../resolve.ts";
import { bodyOf, serve } from "../testing/server.ts";
import { answerOf, say } from "../testing/sink.ts";

/** A proxy that forwards every request to one server, and records its target. */
async function proxyTo(server: string) {
  const asked: string[] = [];
  const proxy = await serve(async (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const body = await bodyOf(request);
    const { host: _host, ...headers } = request.headers;
    const passed = send(new URL(new URL(request.url ?? "").pathname, server), { method: "POST", headers }, (answer) => {
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

interface Way {
  readonly model: string;
  /** The variable of the provider's address. */
  readonly address: string;
  readonly path: string;
  /** Through the provider's package, or as an embedding model. */
  readonly as?: "package" | "embedding";
}

const ways: readonly Way[] = [
  { model: "anthropic/claude-sonnet-5", address: "ANTHROPIC_BASE_URL", path: "/v1/messages" },
  { model: "anthropic/claude-haiku-4-5", address: "ANTHROPIC_BASE_URL", path: "/v1/messages", as: "package" },
  { model: "openai-chat/gpt-4o", address: "OPENAI_BASE_URL", path: "/v1/chat/completions" },
  { model: "openai-chat/gpt-4o-mini", address: "OPENAI_BASE_URL", path: "/v1/chat/completions", as: "package" },
  { model: "openai/gpt-5", address: "OPENAI_BASE_URL", path: "/v1/responses" },
  { model: "openai/text-embedding-3-small", address: "OPENAI_BASE_URL", path: "/v1/embeddings", as: "embedding" },
];

describe("proxies that the environment names", () => {
  async function ask({ model, address, as }: Way, env: Record<string, string>): Promise<unknown> {
    const keys = { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k", [address]: "http://models.example", ...env };
    if (as === "embedding") return embeddingModel(model, { env: keys }).doEmbed({ values: ["Hello"] });
    const overrides = as ? { [model]: { driver: as } } : {};
    return answerOf(await resolveModel(model, { env: keys, overrides }), say("Hello"));
  }

  test.each(ways)("are taken by $model (as: $as)", async (way) => {
    await using server = await saysNo();
    await using proxy = await proxyTo(server.baseURL);
    await expect(ask(way, { HTTP_PROXY: proxy.address.replace("http://", "") })).rejects.toThrow("Not today");
    expect(proxy.asked).toEqual([`POST http://models.example${way.path}`]);
  });

  test.each(ways)(
    "are passed by for what is on this machine, or is named in NO_PROXY: $model (as: $as)",
    async (way) => {
      await using server = await saysNo();
      await using proxy = await proxyTo(server.baseURL);
      const here = { [way.address]: server.baseURL };
      await expect(ask(way, { http_proxy: proxy.address, ...here })).rejects.toThrow("Not today");
      const past = { http_proxy: proxy.address, no_proxy: "models.example" };
      await expect(ask(way, past)).rejects.toThrow("models.example");
      expect(proxy.asked).toEqual([]);
    },
  );

  test("are refused by the name of their variable when they are none", async () => {
    await expect(ask(ways[0] as Way, { HTTPS_PROXY: "http://a b" })).rejects.toThrow("HTTPS_PROXY");
  });
});
