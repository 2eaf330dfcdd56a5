import { describe, expect, test } from "vitest";
import { noUsage } from "../conversation/usage.ts";
import { end, finish, responseTo } from "./provider.fixture.ts";

describe("the parts of an answer", () => {
  test("text and reasoning, with the end of each", async () => {
    const parts = await responseTo([
      { type: "stream-start", warnings: [] },
      { type: "reasoning-start", id: "r" },
      { type: "reasoning-delta", id: "r", delta: "hm" },
      { type: "reasoning-end", id: "r" },
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "he" },
      { type: "text-delta", id: "t", delta: "llo" },
      { type: "text-end", id: "t" },
      finish,
    ]);
    expect(parts).toEqual([
      { type: "reasoning", text: "hm" },
      { type: "part-end" },
      { type: "text", text: "he" },
      { type: "text", text: "llo" },
      { type: "part-end" },
      end,
    ]);
  });

  test("the end of a part carries content that the provider needs again, from any place", async () => {
    const parts = await responseTo([
      {
        type: "reasoning-start",
        id: "r",
        providerMetadata: { openai: { itemId: "rs_1", reasoningEncryptedContent: null } },
      },
      { type: "reasoning-delta", id: "r", delta: "hm" },
      { type: "reasoning-end", id: "r", providerMetadata: { openai: { reasoningEncryptedContent: "x9" } } },
      { type: "reasoning-start", id: "s" },
      { type: "reasoning-delta", id: "s", delta: "aha" },
      { type: "reasoning-delta", id: "s", delta: "", providerMetadata: { anthropic: { signature: "sig" } } },
      { type: "reasoning-end", id: "s" },
      { type: "text-start", id: "t", providerMetadata: { openai: { itemId: "msg_1" } } },
      { type: "text-delta", id: "t", delta: "hello" },
      { type: "text-end", id: "t" },
      finish,
    ]);
    expect(parts.filter((part) => part.type === "part-end")).toEqual([
      { type: "part-end", provider: { openai: { itemId: "rs_1", reasoningEncryptedContent: "x9" } } },
      { type: "part-end", provider: { anthropic: { signature: "sig" } } },
      { type: "part-end", provider: { openai: { itemId: "msg_1" } } },
    ]);
  });

  test("hidden reasoning is an empty part; an empty part without a mark is none", async () => {
    const parts = await responseTo([
      { type: "reasoning-start", id: "r", providerMetadata: { anthropic: { redactedData: "zz" } } },
      { type: "reasoning-end", id: "r" },
      { type: "text-start", id: "t" },
      { type: "text-end", id: "t" },
      finish,
    ]);
    expect(parts).toEqual([
      { type: "reasoning", text: "" },
      { type: "part-end", provider: { anthropic: { redactedData: "zz" } } },
      end,
    ]);
  });

  test("an open block ends at the next block, or with the answer", async () => {
    const parts = await responseTo([
      { type: "text-start", id: "a" },
      { type: "text-delta", id: "a", delta: "one" },
      { type: "text-start", id: "b" },
      { type: "text-delta", id: "b", delta: "two" },
      finish,
    ]);
    expect(parts).toEqual([
      { type: "text", text: "one" },
      { type: "part-end" },
      { type: "text", text: "two" },
      { type: "part-end" },
      end,
    ]);
  });

  test("a call whose arguments stream, with the provider's marks", async () => {
    const parts = await responseTo([
      { type: "tool-input-start", id: "c1", toolName: "read" },
      { type: "tool-input-delta", id: "c1", delta: '{"path":' },
      { type: "tool-input-delta", id: "c1", delta: '"a"}' },
      { type: "tool-input-end", id: "c1" },
      {
        type: "tool-call",
        toolCallId: "c1",
        toolName: "read",
        input: '{ "path": "a" }',
        providerMetadata: { openai: { itemId: "fc" } },
      },
      finish,
    ]);
    expect(parts).toEqual([
      { type: "call", index: 0, id: "c1", tool: "read" },
      { type: "call-input", index: 0, text: '{"path":' },
      { type: "call-input", index: 0, text: '"a"}' },
      { type: "call-end", index: 0, provider: { openai: { itemId: "fc" } } },
      { ...end, reason: "calls" },
    ]);
  });

  test("a call that arrives whole, and a call whose announced arguments never stream", async () => {
    const parts = await responseTo([
      { type: "tool-call", toolCallId: "c1", toolName: "read", input: '{"path":"a"}' },
      { type: "tool-input-start", id: "c2", toolName: "list" },
      { type: "tool-input-end", id: "c2" },
      { type: "tool-call", toolCallId: "c2", toolName: "list", input: "{}" },
      finish,
    ]);
    expect(parts.slice(0, -1)).toEqual([
      { type: "call", index: 0, id: "c1", tool: "read" },
      { type: "call-input", index: 0, text: '{"path":"a"}' },
      { type: "call-end", index: 0 },
      { type: "call", index: 1, id: "c2", tool: "list" },
      { type: "call-input", index: 1, text: "{}" },
      { type: "call-end", index: 1 },
    ]);
  });

  test("two calls whose arguments stream at the same time stay apart", async () => {
    const parts = await responseTo([
      { type: "tool-input-start", id: "a", toolName: "read" },
      { type: "tool-input-start", id: "b", toolName: "read" },
      { type: "tool-input-delta", id: "b", delta: "{2}" },
      { type: "tool-input-delta", id: "a", delta: "{1}" },
      { type: "tool-call", toolCallId: "b", toolName: "read", input: "{2}" },
      { type: "tool-call", toolCallId: "a", toolName: "read", input: "{1}" },
      finish,
    ]);
    expect(parts.filter((part) => part.type === "call-input")).toEqual([
      { type: "call-input", index: 1, text: "{2}" },
      { type: "call-input", index: 0, text: "{1}" },
    ]);
    expect(parts.filter((part) => part.type === "call-end").map((part) => part.index)).toEqual([1, 0]);
  });

  test("arguments that stream as plain text are taken from the call, where they are JSON", async () => {
    const parts = await responseTo([
      { type: "tool-input-start", id: "c", toolName: "patch", inputEncoding: "text" },
      { type: "tool-input-delta", id: "c", delta: "*** begin" },
      { type: "tool-call", toolCallId: "c", toolName: "patch", input: '"*** begin"' },
      finish,
    ]);
    expect(parts.filter((part) => part.type === "call-input")).toEqual([
      { type: "call-input", index: 0, text: '"*** begin"' },
    ]);
  });

  test("content without a place in a message is skipped, and the answer continues", async () => {
    const parts = await responseTo([
      { type: "source", sourceType: "url", id: "s", url: "https://example.org/", title: "Example" },
      { type: "source", sourceType: "document", id: "d", mediaType: "text/plain", title: "A paper" },
      { type: "file", mediaType: "image/png", data: { type: "data", data: "AA==" } },
      { type: "ping" },
      { type: "raw", rawValue: {} },
      { type: "text-delta", id: "t", delta: "found" },
      finish,
    ]);
    expect(parts).toEqual([
      { type: "source", url: "https://example.org/", title: "Example" },
      { type: "text", text: "found" },
      { type: "part-end" },
      end,
    ]);
  });

  test.each([
    ["stop", "stop"],
    ["length", "length"],
    ["content-filter", "filtered"],
  ] as const)("an answer that ended as %s ended as %s", async (unified, reason) => {
    expect(await responseTo([{ ...finish, finishReason: { unified, raw: undefined } }])).toEqual([{ ...end, reason }]);
  });

  test.each([
    ["eos", "stop"],
    ["MAX_TOKENS", "length"],
    ["sensitive", "filtered"],
    ["pause_turn", "paused"],
  ] as const)("F52: of a reason that a package does not know, %s, the provider's word counts", async (raw, reason) => {
    expect(await responseTo([{ ...finish, finishReason: { unified: "other", raw } }])).toEqual([{ ...end, reason }]);
  });

  test.each([
    [undefined, "broken-stream"],
    ["network_error", "provider"],
    ["odd", "provider"],
  ])("F52: an answer that ended as other, for the reason %s, is no success", async (raw, code) => {
    const other = { ...finish, finishReason: { unified: "other", raw } } as const;
    await expect(responseTo([other])).rejects.toMatchObject({ code });
  });

  test("the response names the answering model if it differs from the requested model", async () => {
    expect(await responseTo([{ type: "response-metadata", modelId: "large-2026" }, finish])).toEqual([
      { ...end, model: "large-2026" },
    ]);
    expect(await responseTo([{ type: "response-metadata", modelId: "large" }, finish])).toEqual([end]);
  });

  test("B20: tokens that the provider does not count are zero, totals are made of their parts", async () => {
    const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
    const nothing = { inputTokens: none, outputTokens: { total: undefined, text: undefined, reasoning: undefined } };
    const some = {
      inputTokens: { ...none, noCache: 4, cacheRead: 2 },
      outputTokens: { total: undefined, text: 3, reasoning: 1 },
    };
    expect(await responseTo([{ ...finish, usage: nothing }])).toEqual([{ ...end, usage: noUsage }]);
    expect(await responseTo([{ ...finish, usage: some }])).toEqual([
      { ...end, usage: { input: 6, cached: 2, cacheWrite: 0, output: 4, reasoning: 1 } },
    ]);
  });
});
