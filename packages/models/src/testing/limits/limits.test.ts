import { describe, expect, test } from "vitest";
import { bodiesOf } from "../../families/request.fixture.ts";
import { unknownFields } from "./fields.ts";
import { violations } from "./limits.ts";
import { Odd } from "./odd-conversation.fixture.ts";

/** Each way to a provider. */
const WAYS: readonly (readonly [name: string, env: (address: string) => Record<string, string>])[] = [
  ["anthropic/claude-sonnet-4-5", (url) => ({ ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: url })],
  ["openai/gpt-5.4", (url) => ({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: url })],
  ["openai-chat/gpt-5.4", (url) => ({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: url })],
  ["azure/deployed", (url) => ({ AZURE_API_KEY: "k", AZURE_BASE_URL: url })],
  ["google/gemini-3.5-flash", (url) => ({ GOOGLE_GENERATIVE_AI_API_KEY: "k", GOOGLE_GENERATIVE_AI_BASE_URL: url })],
  ["mistral/mistral-medium-latest", (url) => ({ MISTRAL_API_KEY: "k", MISTRAL_BASE_URL: url })],
  ["groq/meta-llama/llama-4-scout-17b-16e-instruct", (url) => ({ GROQ_API_KEY: "k", GROQ_BASE_URL: url })],
  ["deepseek/deepseek-v4-flash", (url) => ({ DEEPSEEK_API_KEY: "k", DEEPSEEK_BASE_URL: url })],
  ["xai/grok-4.5", (url) => ({ XAI_API_KEY: "k", XAI_BASE_URL: url })],
  [
    "amazon-bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
    (url) => ({ AWS_REGION: "eu-west-1", AWS_BEARER_TOKEN_BEDROCK: "k", AMAZON_BEDROCK_BASE_URL: url }),
  ],
  ["openai-compatible/devstral-small", (url) => ({ OPENAI_COMPATIBLE_BASE_URL: url })],
];

/** Conversations per way: about 5,000 in long mode for all ways, and their timeout in milliseconds. */
const COUNT = process.env.BANYAN_LONG ? 460 : 8;
const TIME = 60_000 + COUNT * 500;

describe("F44, F45, F46, F47, F49, F56, F66: no provider refuses a request with any content of a conversation:", () => {
  test.each(WAYS)(
    "%s",
    async (name, env) => {
      const provider = name.split("/", 1)[0] ?? "";
      for (let seed = 1; seed <= COUNT; seed++) {
        const requests = new Odd(seed).conversation();
        const bodies = await bodiesOf(name, env, ...requests);
        expect(bodies, `seed ${seed}`).toHaveLength(requests.length);
        expect(
          bodies.flatMap((body) => [...violations(provider, body), ...unknownFields(provider, body)]),
          `seed ${seed}`,
        ).toEqual([]);
      }
    },
    TIME,
  );
});

describe("the judge finds each field that the SDK of a provider does not know:", () => {
  test.each(WAYS)("%s", async (name, env) => {
    const provider = name.split("/", 1)[0] ?? "";
    const bodies = await bodiesOf(name, env, ...new Odd(3).conversation({ tools: 2 }));
    const body = bodies.at(-1) ?? {};
    expect(unknownFields(provider, { ...body, oops: 1 })).toEqual(["oops"]);
    const lists = ["messages", "input", "contents", "tools"].filter((list) => Array.isArray(body[list]));
    expect(lists).not.toEqual([]);
    for (const list of lists) {
      const items = (body[list] as object[]).map((item) => ({ ...item, oops: 1 }));
      const places = items.map((_, index) => `${list}[${index}].oops`);
      expect(unknownFields(provider, { ...body, [list]: items })).toEqual(places);
    }
  });
});

describe("the beginning of a request stays the same while its conversation grows:", () => {
  test.each(WAYS)(
    "%s",
    async (name, env) => {
      for (let seed = 1; seed <= COUNT; seed++) {
        const bodies = await bodiesOf(name, env, ...new Odd(seed).conversation({ pictures: false, tools: 2 }));
        const said = bodies.map((body) => {
          const messages = body.messages ?? body.input ?? body.contents;
          return JSON.stringify(messages, (key, value) =>
            /^cache_?control$|^cachePoint$/i.test(key) ? undefined : value,
          ).replaceAll(",{}", "");
        });
        for (const [index, text] of said.slice(1).entries()) {
          // A message may continue where it ended.
          expect(text.startsWith(said[index]?.replace(/[\]}]+$/, "") ?? ""), `seed ${seed}`).toBe(true);
        }
        const [first, ...others] = bodies.map(({ tools, toolConfig }) => JSON.stringify([tools, toolConfig]));
        for (const tools of others) expect(tools).toBe(first);
      }
    },
    TIME,
  );
});
