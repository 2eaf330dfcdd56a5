import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { fetchHere, sendTo, TestServer, textAt } from "./web.fixture.ts";

/** Makes the next fetch time out when the returned function is called, on machines of any speed. */
function ownTime(): () => void {
  const late = new AbortController();
  const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(new AbortController().signal);
  timeout.mockReturnValueOnce(late.signal);
  onTestFinished(() => timeout.mockRestore());
  return () => late.abort(new DOMException("The time is over.", "TimeoutError"));
}

describe("limits of size and time", () => {
  const endless = (response: ServerResponse, piece: string | Uint8Array) => {
    const more = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.on("drain", more);
    more();
  };

  test("S11: fetch cuts an endless page, and says so", async () => {
    await using server = await TestServer.start((_, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      endless(response, "x".repeat(9999));
    });
    const text = await textAt(server.url, { maxBytes: 20_000 });
    expect(text).toBe(`${"x".repeat(20_000)}\n[cut: the page is larger than 20000 bytes; the rest was not loaded]`);
  });

  test.each([
    ["gzip", gzipSync],
    ["br", (bytes: Buffer) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ] as const)("S11: a bomb of %s is cut after decompression", async (encoding, compress) => {
    const bomb = compress(Buffer.alloc(100_000_000, "x"));
    expect(bomb.length).toBeLessThan(200_000);
    await using server = await TestServer.give(bomb, { "content-type": "text/plain", "content-encoding": encoding });
    const before = process.memoryUsage().rss;
    const text = await textAt(server.url, { maxBytes: 30_000 });
    expect(text).toMatch(/^x{30000}\n\[cut: the page is larger than 30000 bytes; the rest was not loaded\]$/);
    expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
  });

  test("the model gets the beginning of a long text, with a note that it always sees", async () => {
    await using server = await TestServer.give("äb".repeat(100_000), { "content-type": "text/plain" });
    const said = await fetchHere(server.url);
    expect(said).toMatch(/äb\n\[cut: the first 60000 of 300000 bytes of the text\]$/);
    expect(Buffer.byteLength(said)).toBeLessThan(65_536);
  });

  test("S11: fetch does not wait for a silent server", async () => {
    await using server = await TestServer.start(() => {});
    await expect(fetchHere(server.url, { timeout: 200 })).rejects.toMatchObject({
      code: "time",
      message: expect.stringContaining("did not answer within 200 ms"),
    });
  });

  test("S11: fetch returns the received part of an answer that stalls", async () => {
    const over = ownTime();
    await using server = await TestServer.start(async (_, response) => {
      response.writeHead(200, { "content-type": "text/plain" }).write("begun");
      // The bytes arrive within some turns of the event loop.
      for (let turn = 0; turn < 20; turn++) await sleep(10);
      over();
    });
    expect(await textAt(server.url)).toBe(
      "begun\n[cut: the page did not load in time; this is the part that was loaded]",
    );
  });

  test("S11: the time is for all redirects together", async () => {
    const over = ownTime();
    await using server = await TestServer.start((request, response) => {
      if (request.url === "/0") sendTo(response, "/1");
      else over();
    });
    await expect(fetchHere(`${server.url}/0`)).rejects.toMatchObject({ code: "time" });
    expect(server.received).toHaveLength(2);
  });

  test("a cancelled call ends at once, and closes its connection", async () => {
    const cancel = new AbortController();
    const reason = new Error("cancelled");
    const closed = Promise.withResolvers<void>();
    await using server = await TestServer.start((request, response) => {
      request.socket.once("close", () => closed.resolve());
      response.writeHead(200, { "content-type": "text/plain" }).write("begun");
      cancel.abort(reason);
    });
    await expect(fetchHere(server.url, {}, { signal: cancel.signal })).rejects.toBe(reason);
    await closed.promise;
  });

  test("fetch leaves no connection open", async () => {
    const closed: Promise<unknown>[] = [];
    await using server = await TestServer.start((request, response) => {
      closed.push(once(request.socket, "close"));
      response.end("x");
    });
    await fetchHere(server.url);
    await Promise.all(closed);
    expect(closed).toHaveLength(1);
  });

  test("fetch reports an answer that breaks off", async () => {
    await using server = await TestServer.start((_, response) => {
      response.writeHead(200, { "content-type": "text/plain", "content-length": "100" }).write("x");
      response.destroy();
    });
    await expect(fetchHere(server.url)).rejects.toMatchObject({ code: "network" });
  });
});
