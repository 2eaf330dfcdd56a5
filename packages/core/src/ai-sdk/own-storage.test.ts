import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { withOwnStorage } from "./own-storage.ts";

const reasoning = (provider: string, data: object) => ({
  type: "reasoning" as const,
  text: "Hm.",
  providerOptions: { [provider]: data },
});

function asked(provider: string, providerOptions?: object): LanguageModelV4CallOptions {
  return {
    prompt: [
      { role: "user", content: [{ type: "text", text: "Hi" }] },
      {
        role: "assistant",
        content: [
          reasoning(provider, { itemId: "rs_kept" }),
          reasoning(provider, { itemId: "rs_own" }),
          reasoning(provider, { itemId: "rs_own", reasoningEncryptedContent: "c2VjcmV0" }),
          { type: "text", text: "Hello.", providerOptions: { [provider]: { itemId: "msg_1" } } },
        ] as never,
      },
    ],
    ...(providerOptions && { providerOptions: providerOptions as never }),
  };
}

test.each(["openai", "azure", "xai"])(
  "F42: %s gets the order to store nothing, and the whole conversation",
  (provider) => {
    const request = withOwnStorage(asked(provider), `${provider}.responses`);
    expect(request.providerOptions).toEqual({ [provider]: { store: false } });
    const { content } = request.prompt[1] as { content: { type: string; providerOptions: Record<string, object> }[] };
    expect(content.map(({ providerOptions }) => Object.values(providerOptions)[0])).toEqual([
      { itemId: "rs_own" },
      { itemId: "rs_own", reasoningEncryptedContent: "c2VjcmV0" },
      { itemId: "msg_1" },
    ]);
  },
);

test("F42: each message is inspected once, and the prompt stays the same", () => {
  const request = asked("openai");
  const [first, second] = [1, 2].map(() => withOwnStorage(request, "openai.responses").prompt[1]);
  expect(second).toBe(first);
});

test("F42: options of the caller stay, and the caller's `store` decides", () => {
  const named = { openai: { reasoningSummary: "detailed" } };
  expect(withOwnStorage(asked("azure", named), "azure.responses").providerOptions).toEqual({
    openai: { reasoningSummary: "detailed", store: false },
  });
  const stored = asked("openai", { openai: { store: true } });
  expect(withOwnStorage(stored, "openai.responses")).toBe(stored);
});

test("F42: other formats are left as they are", () => {
  const request = asked("openai");
  expect(withOwnStorage(request, "openai.chat")).toBe(request);
});
