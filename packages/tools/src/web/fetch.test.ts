import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { call } from "../workspace/fixture.ts";
import { fetchTool, webTools } from "./index.ts";
import { isSamePlace, redirectTarget } from "./redirect.ts";
import { fetchHere, sendTo, TestServer, textAt } from "./web.fixture.ts";

test("B36: fetch says where a page is, its title, and its text as Markdown; it only looks", async () => {
  const html =
    "<!doctype html><html><head><title>A\n page</title></head><body><h1>Head</h1><p>Some <b>text</b>.</body></html>";
  await using server = await TestServer.give(html, { "content-type": "text/html; charset=utf-8" });
  expect(await fetchHere(`${server.url}/a?b#c`)).toBe(
    `Address: ${server.url}/a?b#c\nTitle: A page\n\n## Head\n\nSome **text**.`,
  );
  expect(webTools().map(({ name, effects }) => [name, effects])).toEqual([["fetch", "none"]]);
});

describe("which addresses are fetched", () => {
  test.each([
    ["file:///etc/passwd", "file: addresses are not fetched"],
    ["data:text/html,<p>x", "data: addresses are not fetched"],
    ["ftp://example.org/", "ftp: addresses are not fetched"],
    ["javascript:alert(1)", "javascript: addresses are not fetched"],
    ["view-source:https://example.org", "view-source: addresses are not fetched"],
    ["example.org", "is no address"],
    ["/etc/passwd", "is no address"],
    ["http://", "is no address"],
    ["http://user@example.org/", "user name or password"],
    ["https://user:password@example.org/", "user name or password"],
    ["https://:password@example.org/", "user name or password"],
  ])("S11: not %s", async (url, reason) => {
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
  ])("S11: not this machine, written as %s", async (host) => {
    await using server = await TestServer.give("secret");
    await expect(call(fetchTool(), { url: `http://${host}:${server.port}/` })).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("not a machine of the public internet"),
    });
    expect(server.received).toEqual([]);
  });

  test.each(["10.0.0.1", "169.254.169.254", "[fe80::1]", "[fd00:ec2::254]", "100.64.0.1", "224.0.0.1"])(
    "S11: not %s",
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
  ])("S11: not a name that leads to %s", async (_, addresses) => {
    const options = { resolve: async () => addresses, timeout: 5000 };
    await expect(call(fetchTool(options), { url: "http://innocent.example/" })).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining(`innocent.example (${addresses.at(-1)})`),
    });
  });

  test.each([25, 22, 6667])("S11: not port %i, where other things than pages are", async (port) => {
    await expect(fetchHere(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      code: "network",
      message: expect.stringContaining("bad port"),
    });
  });

  test("S11: a connection goes to the address that was checked, whatever the name means meanwhile (rebinding)", async () => {
    await using server = await TestServer.start((request, response) => {
      // The next request needs a new connection, and with it a new look-up.
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

  test("a name that means nothing, and a server that is not there, are said", async () => {
    await expect(fetchHere("http://nowhere.example/", { resolve: async () => [] })).rejects.toThrow("has no address");
    const gone = await TestServer.give("");
    const { url } = gone;
    await gone[Symbol.asyncDispose]();
    await expect(fetchHere(url)).rejects.toMatchObject({
      code: "network",
      message: expect.stringMatching(/could not be fetched: .*ECONNREFUSED/),
    });
  });
});

describe("redirects", () => {
  test.each([301, 302, 303, 307, 308])(
    "%i is followed at the same place, and the last address is told",
    async (status) => {
      await using server = await TestServer.start((request, response) =>
        request.url === "/old" ? sendTo(response, "new?x=1", status) : response.end("here"),
      );
      expect(await fetchHere(`${server.url}/old`)).toBe(`Address: ${server.url}/new?x=1\n\nhere`);
    },
  );

  test.each([
    ["http://127.0.0.2:1/", "forbidden"],
    ["http://[::1]:1/", "forbidden"],
    ["//169.254.169.254/latest", "forbidden"],
    ["file:///etc/passwd", "address"],
    ["data:text/plain,x", "address"],
    ["http://user:password@127.0.0.1:1/", "address"],
  ])("S11: one to %s is not followed", async (location, code) => {
    await using server = await TestServer.start((_, response) => sendTo(response, location));
    await expect(fetchHere(server.url)).rejects.toMatchObject({ code });
    expect(server.received).toHaveLength(1);
  });

  test("S11: one to a name that leads to a private address is not followed", async () => {
    await using server = await TestServer.start((_, response) => sendTo(response, "http://inner.example/"));
    await expect(fetchHere(server.url, { resolve: async () => ["192.168.0.1"] })).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("inner.example (192.168.0.1)"),
    });
  });

  test("five are followed, and no sixth", async () => {
    await using server = await TestServer.start((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) response.end("end");
      else sendTo(response, `/${left - 1}`);
    });
    expect(await fetchHere(`${server.url}/5`)).toMatch(/end$/);
    await expect(fetchHere(`${server.url}/6`)).rejects.toMatchObject({ code: "redirect" });
  });

  test("B63: one to another host is followed where the rules allow that address, and else told to the model", async () => {
    await using other = await TestServer.give("other");
    await using server = await TestServer.start((_, response) => sendTo(response, `${other.url}/x`));
    const judged: unknown[] = [];
    const permit = (decision: "allow" | "ask") => async (input: unknown) => {
      judged.push(input);
      return { decision };
    };
    expect(await fetchHere(server.url, {}, { permit: permit("allow") })).toMatch(/other$/);
    await expect(fetchHere(server.url, {}, { permit: permit("ask") })).rejects.toMatchObject({
      code: "redirect",
      message: expect.stringContaining(`fetch ${other.url}/x instead`),
    });
    expect(judged).toEqual([{ url: `${other.url}/x` }, { url: `${other.url}/x` }]);
    expect(other.received).toHaveLength(1);
  });

  test.each([
    ["http://a.example/x", "https://a.example/y", true],
    ["https://a.example/x", "https://a.example:443/y", true],
    ["https://a.example/x", "https://a.example:8443/y", false],
    ["http://a.example:8080/x", "https://a.example/y", false],
    ["http://a.example/x", "http://b.example/x", false],
    ["https://a.example/x", "https://www.a.example/x", false],
  ])("from %s to %s is the same place: %s", (from, to, isSame) => {
    expect(isSamePlace(new URL(from), redirectTarget(new URL(from), to))).toBe(isSame);
  });

  test("encryption is not given up", () => {
    expect(() => redirectTarget(new URL("https://a.example/"), "http://a.example/")).toThrow("not encrypted");
  });
});

describe("how much, and how long", () => {
  const endless = (response: ServerResponse, piece: string | Uint8Array) => {
    const more = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.on("drain", more);
    more();
  };

  test("S11: an endless page is cut, and that is said", async () => {
    await using server = await TestServer.start((_, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      endless(response, "x".repeat(9999));
    });
    const text = await textAt(server.url, { maxBytes: 20_000 });
    expect(text).toBe(`${"x".repeat(20_000)}\n[cut: it is larger than 20000 bytes; the rest was not loaded]`);
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
    expect(text).toMatch(/^x{30000}\n\[cut: it is larger than 30000 bytes; the rest was not loaded\]$/);
    expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
  });

  test("of a long text the model is given the beginning, with a note that it always sees", async () => {
    await using server = await TestServer.give("äb".repeat(100_000), { "content-type": "text/plain" });
    const said = await fetchHere(server.url);
    expect(said).toMatch(/äb\n\[cut: these are the first 60000 of 300000 bytes of its text\]$/);
    expect(Buffer.byteLength(said)).toBeLessThan(65_536);
  });

  test("S11: a server that says nothing is not waited for", async () => {
    await using server = await TestServer.start(() => {});
    await expect(fetchHere(server.url, { timeout: 200 })).rejects.toMatchObject({
      code: "time",
      message: expect.stringContaining("did not answer within 200 ms"),
    });
  });

  test("S11: of one that stalls, what had come is told", async () => {
    await using server = await TestServer.start((_, response) => {
      response.writeHead(200, { "content-type": "text/plain" }).write("begun");
    });
    expect(await textAt(server.url, { timeout: 1500 })).toBe(
      "begun\n[cut: it did not end in time; this is what had come]",
    );
  });

  test("S11: the time is for all redirects together", async () => {
    await using server = await TestServer.start((request, response) => {
      if (request.url === "/0") sendTo(response, "/1");
    });
    await expect(fetchHere(`${server.url}/0`, { timeout: 1500 })).rejects.toMatchObject({ code: "time" });
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

  test("no connection is left behind", async () => {
    const closed: Promise<unknown>[] = [];
    await using server = await TestServer.start((request, response) => {
      closed.push(once(request.socket, "close"));
      response.end("x");
    });
    await fetchHere(server.url);
    await Promise.all(closed);
    expect(closed).toHaveLength(1);
  });

  test("a server that breaks off is said", async () => {
    await using server = await TestServer.start((_, response) => {
      response.writeHead(200, { "content-type": "text/plain", "content-length": "100" }).write("x");
      response.destroy();
    });
    await expect(fetchHere(server.url)).rejects.toMatchObject({ code: "network" });
  });
});

describe("what kinds of content", () => {
  test.each([
    ["text/plain", "  plain\n"],
    ["text/markdown", "# Head\n\n<b>raw</b>"],
    ["application/json", '{"a": [1,\n2]}'],
    ["application/vnd.api+json; charset=utf-8", "{}"],
    ["application/atom+xml", "<feed/>"],
    ["text/csv", "a,b\n1,2\n"],
    ["application/javascript", "let x = 1 < 2;"],
    ["application/octet-stream", "only text"],
    ["", "untyped"],
  ])("%s comes as it is", async (type, body) => {
    await using server = await TestServer.give(body, type === "" ? {} : { "content-type": type });
    expect(await textAt(server.url)).toBe(body);
  });

  test("an untyped page is known by how it begins", async () => {
    await using server = await TestServer.give("\n<!DOCTYPE html><html><body><p>a <b>b</b></body></html>");
    expect(await textAt(server.url)).toBe("a **b**");
  });

  test("a binary file is refused by its type, with its size, and not loaded", async () => {
    let written = 0;
    await using server = await TestServer.start((_, response) => {
      response.writeHead(200, { "content-type": "image/png", "content-length": "123456789" });
      const piece = Buffer.alloc(65_536);
      response.on("drain", () => response.write(piece));
      response.write(piece, () => (written += piece.length));
    });
    await expect(fetchHere(server.url)).rejects.toMatchObject({
      code: "content",
      message: `${server.url}/ is image/png, 123456789 bytes; only text can be fetched.`,
    });
    expect(written).toBeLessThan(10_000_000);
  });

  test.each([
    ["text/plain", Buffer.from("a\0b"), "binary data, 3 bytes"],
    ["text/html", Buffer.from("%PDF-1.7\n\xff\xfe\0", "latin1"), "a PDF document, 12 bytes"],
    ["application/octet-stream", Buffer.from("\x89PNG\r\n\x1a\n\0", "latin1"), "a PNG image, 9 bytes"],
  ])("one that says it is %s is refused by its bytes", async (type, body, what) => {
    await using server = await TestServer.give(body, { "content-type": type });
    await expect(fetchHere(server.url)).rejects.toThrow(`is ${what}; only text`);
  });

  test("nothing is said to be nothing", async () => {
    await using server = await TestServer.give("");
    expect(await textAt(server.url)).toBe("[no text]");
  });

  test.each([
    ["the server", "text/plain; charset=windows-1251", Buffer.from([0xcf, 0xf0, 0xe8]), "При"],
    ["the server, in quotes", 'text/plain; a=b; charset="ISO-8859-15"', Buffer.from([0xa4]), "€"],
    [
      "the page",
      "text/html",
      Buffer.concat([Buffer.from('<meta charset="shift_jis"><p>'), Buffer.from([0x93, 0xfa])]),
      "日",
    ],
    [
      "the page, in the old way",
      "text/html",
      Buffer.concat([
        Buffer.from('<meta http-equiv="Content-Type" content="text/html; charset=euc-kr"><p>'),
        Buffer.from([0xb0, 0xa1]),
      ]),
      "가",
    ],
    [
      "an XML declaration",
      "text/xml",
      Buffer.concat([Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?>'), Buffer.from([0xe4])]),
      "ä",
    ],
    ["a mark, against the server", "text/plain; charset=latin1", Buffer.from("\ufeffä€", "utf8"), "ä€"],
    ["a mark of UTF-16", "text/plain", Buffer.from("\ufeffä€", "utf16le"), "ä€"],
    ["nobody, and it is UTF-8", "text/plain", Buffer.from("ä€"), "ä€"],
    ["nobody, and it is not", "text/plain", Buffer.from([0x80, 0x63, 0xe4]), "€cä"],
    ["nobody, and only the last is not", "text/plain", Buffer.from([0x63, 0xe4]), "cä"],
    ["the server, who errs", "text/plain; charset=klingon", Buffer.from("ä€"), "ä€"],
  ])("characters are as %s says", async (_, type, body, text) => {
    await using server = await TestServer.give(body, { "content-type": type });
    expect((await textAt(server.url)).endsWith(text)).toBe(true);
  });

  test("a character that is cut at the end is left out", async () => {
    await using server = await TestServer.give("€€€€", { "content-type": "text/plain" });
    expect(await textAt(server.url, { maxBytes: 8 })).toMatch(/^€€\n\[cut/);
  });

  test.each([
    [
      404,
      "Not Found",
      "application/json",
      '{"error":"no such thing"}',
      /answered 404 Not Found\.\n\{"error":"no such thing"\}$/,
    ],
    [403, "Forbidden", "text/html", "<p>long page", /answered 403 Forbidden\.$/],
    [500, "", "text/plain", "x".repeat(5000), /answered 500\.\nx{1000}$/],
    [304, "Not Modified", "", "", /answered 304/],
  ])("status %i is a failure of the call, with the server's reason", async (status, message, type, body, said) => {
    await using server = await TestServer.start((_, response) =>
      response.writeHead(status, message, type === "" ? {} : { "content-type": type }).end(body),
    );
    await expect(fetchHere(server.url)).rejects.toMatchObject({ code: "status", message: expect.stringMatching(said) });
  });

  test("S12: control sequences are stripped from the text, the title and the reason of a failure", async () => {
    const evil = "\x1b]52;c;cm0gLXJm\x07a\x1b[2Jb\x9b31mc\u0085d";
    const page = `<html><head><title>${evil}\n&#27;[31mt</title></head><body><p>${evil} &#x1b;]0;x&#7;e</p></body></html>`;
    await using server = await TestServer.start((request, response) => {
      if (request.url === "/page") response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
      else
        response
          .writeHead(request.url === "/text" ? 200 : 500, { "content-type": "text/plain; charset=utf-8" })
          .end(evil);
    });
    const said = await fetchHere(`${server.url}/page`);
    expect(said).toMatch(/^Address: .*\nTitle: abcd t\n\nabcd .*e$/);
    expect(said).not.toMatch(/[^\P{Cc}\n]/u);
    expect(await textAt(`${server.url}/text`)).toBe("abcd");
    await expect(fetchHere(`${server.url}/fails`)).rejects.toThrow(/\.\nabcd$/);
  });
});
