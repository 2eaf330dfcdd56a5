import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type RecordedOptions, recorded } from "./recorded.ts";

const folder = mkdtempSync(join(tmpdir(), "recorded-"));
const file = join(folder, "test.json");
beforeEach(() => {
  vi.stubEnv("CI", "");
  vi.stubEnv("BANYAN_RECORD", "");
  rmSync(file, { force: true });
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const AWAY = "http://models.example";
const open = (options: RecordedOptions = {}) => recorded(file, (fetch) => fetch, options);
const written = () => JSON.parse(readFileSync(file, "utf8"));

async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

async function chunksOf(response: Response): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  for await (const bytes of response.body ?? []) chunks.push(Buffer.from(bytes));
  return chunks;
}

/** Records one exchange with a server that answers with these chunks. */
async function record(chunks: readonly Uint8Array[], init = post({}), path = "/"): Promise<Buffer> {
  await using server = await serve(async (request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "application/octet-stream", "set-cookie": "session=cookie-secret" });
    for (const chunk of chunks) {
      response.write(chunk);
      await sleep(0);
    }
    response.end();
  });
  return Buffer.concat(await chunksOf(await open({ record: true })(server.address + path, init)));
}

describe("a recording of the wire", () => {
  const RUNS = process.env.BANYAN_LONG === "1" ? 200 : 30;

  test("L7: replays random streams byte for byte", async () => {
    const chunk = fc.oneof(
      fc.uint8Array({ minLength: 1 }),
      fc.string({ unit: "grapheme", minLength: 1 }).map(Buffer.from),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(chunk, { maxLength: 8 }), async (chunks) => {
        const sent = Buffer.concat(chunks);
        expect((await record(chunks)).equals(sent)).toBe(true);
        const replayed = await chunksOf(await open()(`${AWAY}/`, post({})));
        expect(Buffer.concat(replayed).equals(sent)).toBe(true);
        expect(replayed.map(({ length }) => length)).toEqual(
          written().exchanges[0].response.body.map((part: { text?: string; base64?: string }) =>
            part.base64 === undefined ? Buffer.byteLength(part.text ?? "") : Buffer.from(part.base64, "base64").length,
          ),
        );
      }),
      { numRuns: RUNS },
    );
  });

  const random = "q7Rt2LxV9bNc4KdW8mZs5HpY3";
  const SECRETS: readonly {
    readonly shape: string;
    readonly secret: string;
    readonly init?: RequestInit;
    readonly path?: string;
  }[] = [
    { shape: "bearer token", secret: random, init: post({}, { authorization: `Bearer ${random}` }) },
    { shape: "basic password", secret: random, init: post({}, { authorization: `Basic ${btoa(`me:${random}`)}` }) },
    { shape: "x-api-key", secret: random, init: post({}, { "x-api-key": random }) },
    { shape: "custom header", secret: random, init: post({}, { "x-team": random }) },
    { shape: "cookie", secret: random, init: post({}, { cookie: random }) },
    { shape: "query parameter", secret: random, path: `/?key=${random}&alt=sse` },
    { shape: "field of the body", secret: random, init: post({ deep: [{ apiKey: random }] }) },
    { shape: "OpenAI key", secret: `sk-proj-${random}` },
    { shape: "Anthropic key", secret: `sk-ant-api03-${random}` },
    { shape: "Google key", secret: `AIza${random}${random}` },
    { shape: "GitHub token", secret: `ghp_${random}` },
    { shape: "AWS key id", secret: "AKIAIOSFODNN7EXAMPLE" },
    { shape: "Slack token", secret: `xoxb-${random}` },
    { shape: "JSON web token", secret: `eyJ${random}.${random}.${random}` },
    { shape: "password in an address", secret: `p-${random}` },
    { shape: "private key", secret: `-----BEGIN PRIVATE KEY-----\n${random}\n-----END PRIVATE KEY-----` },
  ];

  test.each(SECRETS)("L7: has no secret of this shape: $shape", async ({ shape, secret, init, path }) => {
    const shown = shape === "password in an address" ? `https://me:${secret}@example.com/` : secret;
    const text = Buffer.from(`data: ${JSON.stringify({ said: `Grüße ${shown}.` })}\n\n`);
    // The network may cut a secret apart.
    const half = text.indexOf(random.slice(0, 3)) + 6;
    const body = { ...JSON.parse(String(init?.body ?? "{}")), messages: [{ content: `It is ${shown}.` }] };
    const request = { ...(init ?? post({})), body: JSON.stringify(body) };
    const response = await record([text.subarray(0, half), text.subarray(half)], request, path);
    const recordedText = readFileSync(file, "utf8");
    const hidden = secret.includes("\n") ? random : secret;
    expect(recordedText).not.toContain(hidden);
    expect(recordedText).not.toContain(btoa(`me:${random}`));
    expect(recordedText).not.toContain("cookie-secret");
    expect(
      written()
        .exchanges[0].response.body.map(({ text }: { text: string }) => text)
        .join(""),
    ).not.toContain(hidden);
    expect(response.length).toBe(text.length);
    expect(response.toString()).toContain("Grüße ");
    // The same request fits.
    expect((await open()(`${AWAY}${path ?? "/"}`, request)).status).toBe(200);
  });

  test("L7: has no secret of the environment or of the option", async () => {
    vi.stubEnv("WEATHER_API_KEY", "tempest-and-thunder");
    await using server = await serve((request, response) =>
      request.resume().on("end", () => response.end("tempest-and-thunder, Elm Street 5, 4711")),
    );
    await chunksOf(await open({ record: true, secrets: ["Elm Street 5", "4711"] })(server.address, post({})));
    expect(written().exchanges[0].response.body[0].text).toBe("*******************, ************, ****");
  });

  test("L7: keeps ordinary words, also those of headers and tools", async () => {
    const words = 'data: {"key":"hotel-paris","run":"npm-run-build-and-test-all","said":"weather chunked keep-alive"}';
    const request = post({ tool: { key: "hotel-paris" } }, { "x-team": "weather", "user-agent": "a-tool/1" });
    expect((await record([Buffer.from(words)], request)).toString()).toBe(words);
    expect(written().exchanges[0].request.body).toEqual({ tool: { key: "hotel-paris" } });
  });

  test("L7: fits a request whose key is an ordinary word of the request", async () => {
    await record([Buffer.from("Hi")], post({ content: "a recorded call" }, { authorization: "Bearer the-real-key" }));
    const again = post({ content: "a recorded call" }, { authorization: "Bearer recorded" });
    expect(await (await open()(AWAY, again)).text()).toBe("Hi");
  });

  test("L7: names the differences of a request that it does not have", async () => {
    await record(
      [Buffer.from("Hi")],
      post({ model: "m", messages: [{ content: "Please tell me: what is the weather in Rome?" }] }),
    );
    const other = post({
      model: "m",
      messages: [{ content: "Please tell me: what is the weather in Oslo?" }],
      tools: [],
    });
    await expect(open()(AWAY, other)).rejects.toMatchObject({
      code: "invalid-request",
      retryable: false,
      message: `Request 1 is not in ${file}: messages[0].content: recorded "...t is the weather in Rome?", sent "...t is the weather in Oslo?"; tools: recorded nothing, sent []; if this is right, record again with BANYAN_RECORD=1`,
    });
    await expect(open()(`${AWAY}/v2`, other)).rejects.toThrow('path: recorded "/", sent "/v2"');
  });

  test("L7: answers each request once, in any order", async () => {
    await using server = await serve((request, response) => {
      request.on("data", (body) => response.write(body)).on("end", () => response.end());
    });
    const live = open({ record: true });
    await Promise.all([1, 2, 3].map(async (n) => (await live(server.address, post({ n }))).text()));
    const replay = open();
    for (const n of [3, 1, 2]) expect(await (await replay(AWAY, post({ n }))).json()).toEqual({ n });
    await expect(replay(AWAY, post({ n: 1 }))).rejects.toThrow(
      `Request 4 is not in ${file}: recorded nothing more, sent POST /`,
    );
  });

  test("L7: replays with the pauses of the provider, or without", async () => {
    await using server = await serve(async (request, response) => {
      request.resume();
      for (const text of ["a", "b", "c"]) {
        response.write(text);
        await sleep(60);
      }
      response.end();
    });
    await (await open({ record: true })(server.address, post({}))).text();
    const timed = async (options: RecordedOptions) => {
      const begin = performance.now();
      expect(await (await open(options)(AWAY, post({}))).text()).toBe("abc");
      return performance.now() - begin;
    };
    const paused = await timed({ timing: true });
    expect(paused).toBeGreaterThan(90);
    expect(await timed({})).toBeLessThan(paused);
  });

  test("L7: repeats the status, and a cut at the same place", async () => {
    await using server = await serve((request, response) => {
      request.resume();
      response.writeHead(503, { "retry-after": "7" }).write("Hel", () => setTimeout(() => response.destroy(), 20));
    });
    const live = await open({ record: true })(server.address, post({}));
    await expect(live.text()).rejects.toThrow("terminated");
    const replayed = await open()(AWAY, post({}));
    expect([replayed.status, replayed.headers.get("retry-after")]).toEqual([503, "7"]);
    await expect(replayed.text()).rejects.toThrow("terminated");
    expect(written().exchanges[0].response).toMatchObject({ end: "cut", body: [{ text: "Hel" }] });
  });

  test("L7: of a request that was aborted stays open until the replay aborts too", async () => {
    const begun = Promise.withResolvers<void>();
    await using server = await serve((request, response) => {
      request.resume();
      response.write("Hel", () => begun.resolve());
    });
    const abort = new AbortController();
    const answer = open({ record: true })(server.address, { ...post({}), signal: abort.signal });
    await begun.promise;
    await sleep(100);
    abort.abort();
    await answer.catch(() => {});
    expect(written().exchanges[0].response).toMatchObject({ end: "aborted", body: [{ text: "Hel" }] });
    const again = new AbortController();
    const reader = (await open()(AWAY, { ...post({}), signal: again.signal })).body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("Hel");
    const next = reader?.read();
    again.abort(new Error("enough"));
    await expect(next).rejects.toThrow();
  });
});

describe("the mode of a recording", () => {
  test("L7: is replay; a missing file says how to record", () => {
    expect(() => open()).toThrow(
      `There is no recording ${file}. Record it with BANYAN_RECORD=1 and the provider's key.`,
    );
  });

  test("L7: is record with BANYAN_RECORD=1, unless the program says record: false", async () => {
    await record([Buffer.from("old")]);
    vi.stubEnv("BANYAN_RECORD", "1");
    await using server = await serve((request, response) => request.resume().on("end", () => response.end("new")));
    expect(await (await open({ record: false })(server.address, post({}))).text()).toBe("old");
    expect(await (await open()(server.address, post({}))).text()).toBe("new");
    vi.stubEnv("CI", "true");
    expect(await (await open()(server.address, post({}))).text()).toBe("new");
  });

  test("L7: is never record in CI because of record: true", () => {
    vi.stubEnv("CI", "true");
    expect(() => open({ record: true })).toThrow(
      `${file} is not recorded in CI: leave out record: true, or set BANYAN_RECORD=1.`,
    );
  });

  test("L7: a misspelt option, a wrong value, a model in place of a function, and a file of another kind are refused", () => {
    expect(() => open({ recrod: true } as never)).toThrow("did you mean record?");
    expect(() => open({ record: "no" as never })).toThrow("record of recorded must be true or false, not no.");
    expect(() => open({ secrets: "Elm Street 5" as never })).toThrow("secrets of recorded must be a list of texts");
    expect(() => recorded(file, {} as never)).toThrow(
      "recorded takes a function that makes the model: (fetch) => resolveModel(name, { fetch }).",
    );
    writeFileSync(file, "[]");
    expect(() => open()).toThrow(`${file} is no recording of version 1. Record it again with BANYAN_RECORD=1.`);
    writeFileSync(file, "{");
    expect(() => open()).toThrow(`${file} is not JSON`);
  });
});
