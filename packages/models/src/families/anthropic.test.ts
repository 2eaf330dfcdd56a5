import type { ModelRequest } from "@banyan/core/drivers";
import { describe, expect, test } from "vitest";
import { bodiesOf, calls, look, user } from "./request.fixture.ts";

const env = (address: string) => ({ ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: address });
const ask = (...requests: readonly Partial<ModelRequest>[]) =>
  bodiesOf("anthropic/claude-sonnet-4-5", env, ...requests);

type Marked = { readonly cache_control?: unknown };
interface Body {
  readonly system?: readonly Marked[];
  readonly tools?: readonly Marked[];
  readonly messages: readonly { readonly content: readonly Marked[] }[];
}

/** The places of a request's cache marks. */
function marksOf(body: unknown): string[] {
  const { system = [], tools = [], messages } = body as Body;
  const marked = (list: readonly Marked[], name: string) =>
    list.flatMap((block, index) => (block.cache_control ? [`${name} ${index}`] : []));
  return [
    ...marked(tools, "tool"),
    ...marked(system, "system"),
    ...messages.flatMap(({ content }, index) => marked(content, `message ${index} block`)),
  ];
}

describe("cache marks for Anthropic", () => {
  const tools = [look, { ...look, name: "peek" }];
  const first = [user("one")];
  const second = [...first, calls("a", "b")];
  const third = [...second, calls("c")];

  test("are on the system prompt and on the last two messages that are not the model's, and move with these", async () => {
    const base = { instructions: "Be kind.", tools };
    const bodies = await ask({ ...base, messages: first }, { ...base, messages: second }, { ...base, messages: third });
    expect(bodies.map(marksOf)).toEqual([
      ["system 0", "message 0 block 0"],
      ["system 0", "message 0 block 0", "message 2 block 1"],
      ["system 0", "message 2 block 1", "message 4 block 0"],
    ]);
  });

  test("are on the last tool if there is no system prompt, and nowhere if there are no tools either", async () => {
    const bodies = await ask({ tools, messages: first }, { messages: first });
    expect(bodies.map(marksOf)).toEqual([["tool 1", "message 0 block 0"], ["message 0 block 0"]]);
  });

  test("leave the messages as they were: without its marks, a request begins like the one before", async () => {
    const [before, after] = await ask({ messages: second }, { messages: third });
    const bare = (body: unknown) =>
      JSON.parse(
        JSON.stringify((body as Body).messages, (key, value) => (key === "cache_control" ? undefined : value)),
      );
    expect(bare(after).slice(0, 3)).toEqual(bare(before));
  });

  test("are left out if the user requests a cache of the whole request", async () => {
    const providerOptions = { anthropic: { cacheControl: { type: "ephemeral", ttl: "1h" } } };
    const [body] = await ask({ instructions: "Be kind.", messages: first, settings: { providerOptions } });
    expect(marksOf(body)).toEqual([]);
    expect(body?.cache_control).toEqual({ type: "ephemeral", ttl: "1h" });
  });
});

test("the driver replaces call ids that Anthropic refuses, in the call and in its result", async () => {
  const [body, again] = await ask(
    { messages: [user("one"), calls("functions.look:0", "call_1")] },
    { messages: [user("one"), calls("functions.look:0", "call_1")] },
  );
  const blocks = (
    body as unknown as { messages: { content: { type: string; id?: string; tool_use_id?: string }[] }[] }
  ).messages
    .flatMap(({ content }) => content)
    .flatMap(({ type, id, tool_use_id }) => (type === "text" ? [] : [id ?? tool_use_id]));
  expect(blocks).toEqual([expect.stringMatching(/^\w{9}$/), "call_1", blocks[0], "call_1"]);
  expect(again).toEqual(body);
});
