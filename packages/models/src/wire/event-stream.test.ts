import { expect, test } from "vitest";
import { EventStreamDecoder } from "./event-stream.ts";

function decode(...pieces: readonly (string | Buffer)[]): string[] {
  const events: string[] = [];
  const decoder = new EventStreamDecoder((data) => events.push(data));
  for (const piece of pieces) decoder.push(Buffer.from(piece));
  decoder.end();
  return events;
}

test("an event ends at an empty line, and is read before the next bytes arrive", () => {
  const events: string[] = [];
  const decoder = new EventStreamDecoder((data) => events.push(data));
  decoder.push(Buffer.from("data: one\n"));
  expect(events).toEqual([]);
  decoder.push(Buffer.from("\n"));
  expect(events).toEqual(["one"]);
});

test.each([
  ["LF", "\n"],
  ["CRLF", "\r\n"],
  ["CR", "\r"],
])("lines may end with %s", (_, eol) => {
  expect(decode(`data: one${eol}${eol}data: two${eol}data: three${eol}${eol}`)).toEqual(["one", "two\nthree"]);
});

test("an event whose last line ends with CR is read at once, although LF may follow", () => {
  const events: string[] = [];
  const decoder = new EventStreamDecoder((data) => events.push(data));
  decoder.push(Buffer.from("data: one\r\n\r"));
  expect(events).toEqual(["one"]);
  decoder.push(Buffer.from("\ndata: two\r\n\r\n"));
  expect(events).toEqual(["one", "two"]);
});

test("the space after the colon may be missing, and only one is taken away", () => {
  expect(decode("data:one\n\ndata:  two\n\n")).toEqual(["one", " two"]);
});

test("comments, other fields and a byte order mark are passed over", () => {
  expect(decode("\uFEFFdata: one\n\n: ping\n\nevent: x\nid: 1\nretry: 5\ndata: two\n\nevent: y\n\n")).toEqual([
    "one",
    "two",
  ]);
});

test("an empty data field is an event with empty data", () => {
  expect(decode("data\n\n", "data:\n\n", "data\ndata\n\n")).toEqual(["", "", "\n"]);
});

test("an event at the end counts without its empty line, even without its line end", () => {
  expect(decode("data: one\n\ndata: two\n")).toEqual(["one", "two"]);
  expect(decode("data: one\n\ndata: two")).toEqual(["one", "two"]);
});

test("F13: bytes split at every position give the same events", () => {
  const eols = ["\n", "\r\n", "\r"];
  for (const eol of eols) {
    const text = [
      '\uFEFFdata: {"a":"żółć 🌳 \u2028"}',
      "",
      ": c",
      "data:x",
      "data: y",
      "",
      "data: [DONE]",
      "",
      "",
    ].join(eol);
    const bytes = Buffer.from(text);
    const whole = decode(bytes);
    expect(whole).toEqual(['{"a":"żółć 🌳 \u2028"}', "x\ny", "[DONE]"]);
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(decode(bytes.subarray(0, cut), bytes.subarray(cut)), `${JSON.stringify(eol)} at ${cut}`).toEqual(whole);
    }
    const single = Array.from(bytes, (byte) => Buffer.from([byte]));
    expect(decode(...single)).toEqual(whole);
  }
});
