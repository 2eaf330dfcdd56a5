import { defineTool, textOf } from "@banyan/core";
import { describe, expect, test } from "vitest";
import { chat, gemini, messageStart, messages, named, text, turns, type Way } from "./answers-as-sent.fixture.ts";
import { chunk } from "./testing/server.ts";

const done = chat(chunk({ content: "Done." }), chunk({}, "stop"), "[DONE]");

const stopped = (reason: string, usage: object = { output_tokens: 3 }) =>
  named("message_delta", { delta: { stop_reason: reason, stop_sequence: null }, usage });

const messageStop = named("message_stop", {});

const CHAT_WAYS = ["chat", "chat package", "groq", "deepseek", "mistral"] as const;

describe("F58: reasoning in the content", () => {
  test.each(CHAT_WAYS)("think-tags, at %s", async (way) => {
    const pieces = ["<think>\nThe person wants", " a capital.\n</thi", "nk>\n\n", "Paris."];
    const { ended } = await turns(way, [
      chat(...pieces.map((content) => chunk({ content })), chunk({}, "stop"), "[DONE]"),
    ]);
    expect(ended).toMatchObject({ reason: "answered", text: "Paris." });
    expect(ended.message?.parts).toMatchObject([
      { type: "reasoning", text: "The person wants a capital.\n" },
      { type: "text", text: "Paris." },
    ]);
  });

  test("tags stay where they are the format's own text", async () => {
    const { ended } = await turns("messages", [
      messages(messageStart(), text("<think>a</think>b"), stopped("end_turn"), messageStop),
    ]);
    expect(ended.text).toBe("<think>a</think>b");
  });
});

describe("F70: calls in the form of text", () => {
  const seen: unknown[] = [];
  const read = defineTool({
    name: "read",
    description: "Reads a file.",
    input: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    effects: "none",
    execute: (input: unknown) => {
      seen.push(input);
      return "acorns";
    },
  });
  const written = '<tool_call>\n{"name": "read", "arguments": {"path": "a.txt"}}\n</tool_call>';
  const calling = chat(
    chunk({ content: "I look.\n" }),
    chunk({ content: written.slice(0, 9) }),
    chunk({ content: written.slice(9) }),
    chunk({}, "stop"),
    "[DONE]",
  );

  test("run, and the text before them stays", async () => {
    seen.length = 0;
    const { ended, asked } = await turns("chat", [calling, done], 1, { tools: [read] });
    expect(seen).toEqual([{ path: "a.txt" }]);
    expect(ended).toMatchObject({ reason: "answered", text: "Done." });
    expect(asked).toBe(2);
  });

  test("stay text without tools, with `textCalls` off, and beside a call of the format", async () => {
    seen.length = 0;
    expect((await turns("chat", [calling])).ended.text).toBe(`I look.\n${written}`);
    expect((await turns("chat", [calling], 1, { tools: [read], textCalls: false })).ended.text).toBe(
      `I look.\n${written}`,
    );
    expect(seen).toEqual([]);
    const call = chunk({
      tool_calls: [{ index: 0, id: "c", function: { name: "read", arguments: '{"path":"b.txt"}' } }],
    });
    await turns("chat", [chat(chunk({ content: written }), call, chunk({}, "tool_calls"), "[DONE]"), done], 1, {
      tools: [read],
    });
    expect(seen).toEqual([{ path: "b.txt" }]);
  });

  test("cut off by the limit of the length do not run", async () => {
    seen.length = 0;
    const { ended } = await turns(
      "chat",
      [chat(chunk({ content: written.slice(0, 30) }), chunk({}, "length"), "[DONE]")],
      1,
      { tools: [read] },
    );
    expect(ended).toMatchObject({ text: written.slice(0, 30), message: { finish: "length" } });
    expect(seen).toEqual([]);
  });
});

describe("F67: chunks without choices", () => {
  test.each(CHAT_WAYS)("are passed over, at %s", async (way) => {
    const empty = [
      { ...chunk({}), choices: [] },
      { ...chunk({}), choices: null },
    ];
    const { ended, asked } = await turns(way, [
      chat(...empty, chunk({ content: "Do" }), ...empty, chunk({ content: "ne." }, "stop"), ...empty, "[DONE]"),
    ]);
    expect(ended).toMatchObject({ reason: "answered", text: "Done." });
    expect(asked).toBe(1);
  });

  test.each(CHAT_WAYS)("a chunk of another shape is told without words of code, at %s", async (way) => {
    const { ended } = await turns(way, [
      chat({ ...chunk({}), choices: [{ index: 0, delta: { tool_calls: [null, 7] } }] }, { choices: 7 }),
    ]);
    expect(ended.reason).toBe("failed");
    expect(ended.error?.message).not.toMatch(/undefined|Cannot read|invalid_type|\[\s*\{|TypeError/);
  });
});

describe("F71: streams that proxies dress up", () => {
  const dressed: readonly (readonly [Way, string])[] = [
    ...CHAT_WAYS.map((way) => [way, done.body] as const),
    ["messages", messageStart() + text("Done.") + stopped("end_turn") + messageStop],
    ["messages package", messageStart() + text("Done.") + stopped("end_turn") + messageStop],
    ["google", gemini("Done.", { finishReason: "STOP" })],
    ["google package", gemini("Done.", { finishReason: "STOP" })],
  ];
  test.each(dressed)("comments, `retry:`, `id:` and `event: done` change nothing, at %s", async (way, body) => {
    const begin = ": OPENROUTER PROCESSING\n\nretry: 3000\n\nid: 7\n\n:\n\nevent: ping\n\n";
    const { ended, asked } = await turns(way, [{ body: `${begin}${body}id: 8\n\nevent: done\n\n` }]);
    expect(ended).toMatchObject({ reason: "answered", text: "Done." });
    expect(textOf(ended.message as NonNullable<typeof ended.message>)).toBe("Done.");
    expect(asked).toBe(1);
  });
});
