import { describe, expect, test } from "vitest";
import { fetchHere, TestServer, textAt } from "./web.fixture.ts";

describe("kinds of content", () => {
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
  ])("fetch returns %s unchanged", async (type, body) => {
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
  ])("fetch refuses content that is called %s, because of its bytes", async (type, body, what) => {
    await using server = await TestServer.give(body, { "content-type": type });
    await expect(fetchHere(server.url)).rejects.toThrow(`is ${what}; only text`);
  });

  test("fetch reports an empty answer", async () => {
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
  ])("fetch decodes characters as %s says", async (_, type, body, text) => {
    await using server = await TestServer.give(body, { "content-type": type });
    expect((await textAt(server.url)).endsWith(text)).toBe(true);
  });

  test("fetch drops a character that is cut at the end", async () => {
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
