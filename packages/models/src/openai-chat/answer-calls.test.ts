import { describe, expect, test } from "vitest";
import { chunk } from "../testing/server.ts";
import { answer, call, endpoint, wholeCall } from "./answer.fixture.ts";
import { ChatAnswer } from "./answer.ts";

const usage = { input: 0, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 };

const calls = { type: "finish", reason: "calls", usage };

describe("calls", () => {
  test("two calls in parallel, each in pieces", () => {
    expect(
      answer(
        call({ index: 0, id: "a", type: "function", function: { name: "read", arguments: "" } }),
        call({ index: 0, function: { arguments: '{"p":' } }),
        call({ index: 0, function: { arguments: "1}" } }),
        call({ index: 1, id: "b", type: "function", function: { name: "read", arguments: "" } }),
        call({ index: 1, function: { arguments: "{}" } }),
        chunk({}, "tool_calls"),
        "[DONE]",
      ),
    ).toEqual([...wholeCall(0, "a", "read", '{"p":1}'), ...wholeCall(1, "b", "read", "{}"), calls]);
  });

  test("calls with interleaved pieces stay apart", () => {
    expect(
      answer(
        call({ index: 0, id: "a", function: { name: "x", arguments: '{"p"' } }),
        call({ index: 1, id: "b", function: { name: "y", arguments: '{"q"' } }),
        call({ index: 0, function: { arguments: ":1}" } }),
        call({ index: 1, function: { arguments: ":2}" } }),
        chunk({}, "tool_calls"),
        "[DONE]",
      ),
    ).toEqual([
      { type: "call", index: 0, id: "a", tool: "x" },
      { type: "call-input", index: 0, text: '{"p"' },
      { type: "call", index: 1, id: "b", tool: "y" },
      { type: "call-input", index: 1, text: '{"q"' },
      { type: "call-input", index: 0, text: ":1}" },
      { type: "call-input", index: 1, text: ":2}" },
      { type: "call-end", index: 0 },
      { type: "call-end", index: 1 },
      calls,
    ]);
  });

  test("a call ends as soon as the next one begins, when its input is whole", () => {
    const one = new ChatAnswer(endpoint);
    one.data(JSON.stringify(call({ index: 0, id: "a", function: { name: "x", arguments: "{}" } })));
    one.data(JSON.stringify(call({ index: 1, id: "b", function: { name: "y", arguments: "" } })));
    expect(one.take()).toContainEqual({ type: "call-end", index: 0 });
  });

  const twoCalls = [...wholeCall(0, "a", "x", '{"p":1}'), ...wholeCall(1, "b", "x", "{}"), calls];
  const end = [chunk({}, "tool_calls"), "[DONE]"];

  test.each<[string, readonly object[], readonly object[]]>([
    [
      "whole calls without index",
      [
        call({ id: "a", function: { name: "x", arguments: '{"p":1}' } }),
        call({ id: "b", function: { name: "x", arguments: "{}" } }),
      ],
      twoCalls,
    ],
    [
      "whole calls with the same index",
      [
        call({ index: 0, id: "a", function: { name: "x", arguments: '{"p":1}' } }),
        call({ index: 0, id: "b", function: { name: "x", arguments: "{}" } }),
      ],
      twoCalls,
    ],
    [
      "whole calls in one piece",
      [
        chunk({
          tool_calls: [
            { id: "a", function: { name: "x", arguments: '{"p":1}' } },
            { id: "b", function: { name: "x", arguments: "{}" } },
          ],
        }),
      ],
      twoCalls,
    ],
    [
      "input as an object",
      [
        call({ index: 0, id: "a", function: { name: "x", arguments: { p: 1 } } }),
        call({ index: 1, id: "b", function: { name: "x", arguments: {} } }),
      ],
      twoCalls,
    ],
    [
      "ids and names repeated in every piece",
      [
        call({ index: 0, id: "a", function: { name: "x", arguments: '{"p"' } }),
        call({ index: 0, id: "a", function: { name: "x", arguments: ":1}" } }),
        call({ index: 0, id: "a", function: { name: "x", arguments: "" } }),
      ],
      [...wholeCall(0, "a", "x", '{"p":1}'), calls],
    ],
    [
      "ids repeated, without index",
      [
        call({ id: "a", function: { name: "x", arguments: '{"p"' } }),
        call({ id: "a", function: { name: "x", arguments: ":1}" } }),
      ],
      [...wholeCall(0, "a", "x", '{"p":1}'), calls],
    ],
    [
      "pieces without id and index",
      [
        call({ id: "a", function: { name: "x", arguments: "" } }),
        call({ function: { arguments: '{"p"' } }),
        call({ function: { arguments: ":1}" } }),
      ],
      [...wholeCall(0, "a", "x", '{"p":1}'), calls],
    ],
    [
      "empty ids after the first piece",
      [
        call({ index: 0, id: "a", function: { name: "x", arguments: '{"p"' } }),
        call({ index: 0, id: "", function: { name: "", arguments: ":1}" } }),
        call({ index: 0, id: "", function: { name: "x", arguments: "" } }),
      ],
      [...wholeCall(0, "a", "x", '{"p":1}'), calls],
    ],
    [
      "no ids at all",
      [
        call({ index: 0, function: { name: "x", arguments: '{"p":1}' } }),
        call({ index: 1, id: "", function: { name: "x", arguments: "{}" } }),
      ],
      [...wholeCall(0, "", "x", '{"p":1}'), ...wholeCall(1, "", "x", "{}"), calls],
    ],
    [
      "input before the name",
      [
        call({ index: 0, id: "a", function: { arguments: '{"p"' } }),
        call({ index: 0, function: { name: "x", arguments: ":1}" } }),
      ],
      [...wholeCall(0, "a", "x", '{"p":1}'), calls],
    ],
    [
      "no input",
      [call({ index: 0, id: "a", function: { name: "x", arguments: "" } })],
      [...wholeCall(0, "a", "x", ""), calls],
    ],
    [
      "the older function_call",
      [chunk({ function_call: { name: "x", arguments: '{"p"' } }), chunk({ function_call: { arguments: ":1}" } })],
      [...wholeCall(0, "", "x", '{"p":1}'), calls],
    ],
  ])("servers differ: %s", (_, pieces, expected) => {
    expect(answer(...pieces, ...end)).toEqual(expected);
  });
});
