import { expect, test } from "vitest";
import { BoundedReader } from "./message-reader.ts";

function read(pieces: readonly (string | Buffer)[]): { messages: unknown[]; refusals: string[] } {
  const [messages, refusals]: [unknown[], string[]] = [[], []];
  const reader = new BoundedReader((why) => refusals.push(why));
  reader.listen((message) => messages.push(message));
  for (const piece of pieces) reader.push(Buffer.from(piece));
  return { messages, refusals };
}

const framed = (content: string, header = "") =>
  `${header}Content-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`;

test("E1: messages are the same wherever their pieces break", () => {
  const output = Buffer.from(
    framed('{"id":1,"text":"Bäume 🌳"}') +
      framed('{"id":2}', "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n") +
      framed('{"id":3}'),
  );
  const whole = read([output]);
  expect(whole).toEqual({ messages: [{ id: 1, text: "Bäume 🌳" }, { id: 2 }, { id: 3 }], refusals: [] });
  for (let at = 1; at < output.length; at += 1)
    expect(read([output.subarray(0, at), output.subarray(at)])).toEqual(whole);
  expect(read([...output].map((byte) => Buffer.from([byte])))).toEqual(whole);
});

test("E1: content that is no object is skipped, and later messages are read", () => {
  const output = ["", "{", "[]", "7", "null", '"x"', '{"id":1}'].map((content) => framed(content)).join("");
  expect(read([output])).toEqual({ messages: [{ id: 1 }], refusals: [] });
});

test.each([
  ["text without a header", ["Hello!\r\n\r\nhello"], "its output is not the protocol"],
  ["a header without an end", ["x".repeat(3_000), "x".repeat(3_000)], "its output is not the protocol"],
  ["a negative length", ["Content-Length: -1\r\n\r\n"], "its output is not the protocol"],
  ["a length in words", ["Content-Length: many\r\n\r\n"], "its output is not the protocol"],
  [
    "a message of 100 MB",
    ["Content-Length: 104857600\r\n\r\n", "x".repeat(1000)],
    "it sent a message of 104857600 bytes, more than 16777216",
  ],
  ["a flood of messages", [framed("{}").repeat(20_001)], "it sent more messages than can be read"],
])("E1: %s ends the reading once", (_, pieces, why) => {
  const { messages, refusals } = read([...pieces, ...pieces, framed('{"id":1}')]);
  expect(refusals).toEqual([why]);
  expect(messages).not.toContainEqual({ id: 1 });
});
