import { describe, expect, test } from "vitest";
import { McpError, readEntry } from "../index.ts";

describe("an entry in the usual form", () => {
  test.each([
    [{ command: "npx", args: ["-y", "package"], env: { LOG: "1" }, cwd: "sub", timeout: 5, disabled: false }],
    [{ url: "https://example.com/mcp", headers: { "X-Key": "1" }, oauth: { clientId: "me", callbackPort: 8123 } }],
    [{ url: "http://127.0.0.1:1/mcp" }],
  ])("B47: %j is taken as it is", (entry) => {
    expect(readEntry("name", entry)).toEqual(entry);
  });

  test("B47: an entry may name its type, but needs no type", () => {
    expect(readEntry("a", { type: "stdio", command: "x" })).toEqual({ command: "x" });
    expect(readEntry("a", { type: "http", url: "https://a.example/" })).toEqual({ url: "https://a.example/" });
    expect(readEntry("a", { type: "streamable-http", url: "https://a.example/" })).toEqual({
      url: "https://a.example/",
    });
  });
});

test.each([
  [null, "expected an object, as in "],
  ["npx", "expected an object, as in "],
  [{}, "expected an object with a command or a url."],
  [{ command: "" }, "command: expected the program to run."],
  [{ command: "x", args: "-y" }, "args: expected a list of texts."],
  [{ command: "x", args: [1] }, "args.0: expected a text."],
  [{ command: "x", env: { A: 1 } }, "env.A: expected an object with texts"],
  [{ command: "x", environment: {} }, "'environment' is not known."],
  [{ command: "x", url: "https://a.example/" }, "url: expected no url together with a command."],
  [{ command: "x", headers: {} }, "headers: expected no headers together with a command."],
  [{ url: "https://a.example/", args: [] }, "args: expected no args together with a url."],
  [{ url: "file:///etc/passwd" }, "url: expected an address that begins with http:// or https://."],
  [{ type: "sse", url: "https://a.example/" }, 'type: expected "stdio" or "http"; the older "sse" is not supported.'],
  [{ type: "http", command: "x" }, 'type: expected "stdio", or nothing.'],
  [{ command: "x", timeout: 0 }, "timeout: expected milliseconds, a whole number above 0."],
  [{ url: "https://a.example/", oauth: { callbackPort: 0 } }, "oauth.callbackPort: expected a port, from 1 to 65535."],
  [
    { url: "https://a.example/", oauth: { clientMetadataUrl: "http://a.example/" } },
    "oauth.clientMetadataUrl: expected an address",
  ],
  [
    { url: "https://a.example/", oauth: { grant: "client_credentials", clientId: "me", clientSecret: "s" } },
    "oauth: expected clientId, clientSecret and issuer",
  ],
])("B47: the refusal of the entry %j names server, place and expected value", (entry, problem) => {
  expect(() => readEntry("files", entry)).toThrow(McpError);
  expect(() => readEntry("files", entry)).toThrow(`The entry of the MCP server "files" is invalid: ${problem}`);
});

test.each(["", "a b", "a:b", "-a", "ä", "x".repeat(65)])("B47: %j cannot name a server", (name) => {
  expect(() => readEntry(name, { command: "x" })).toThrow(
    `The MCP server ${JSON.stringify(name)} needs a name of letters`,
  );
});
