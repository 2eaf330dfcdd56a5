import { expect, test } from "vitest";
import { bodiesOf, calls, user } from "./request.fixture.ts";

interface Body {
  readonly messages: readonly {
    readonly role: string;
    readonly content: unknown;
    readonly tool_calls?: readonly { readonly id: string }[];
    readonly tool_call_id?: string;
  }[];
}

const env = (address: string) => ({ MISTRAL_API_KEY: "k", MISTRAL_BASE_URL: address });
const ask = async (...messages: Parameters<typeof bodiesOf>[2]["messages"] & object) =>
  (await bodiesOf("mistral/mistral-medium-latest", env, { messages })).map((body) => body as unknown as Body)[0]
    ?.messages ?? [];

test("ids of calls are nine letters and digits, different ones for different calls, the same for a call and its result", async () => {
  const messages = await ask(user("one"), calls("call_1", "toolu_01ABCDEFGHIJKLMNOP", "AbCdEf123"), calls("call_10"));
  const asked = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
  const answered = messages.flatMap(({ tool_call_id }) => (tool_call_id === undefined ? [] : [tool_call_id]));
  expect(asked).toHaveLength(4);
  expect(answered).toEqual(asked);
  expect(new Set(asked).size).toBe(4);
  for (const id of asked) expect(id).toMatch(/^[A-Za-z0-9]{9}$/);
  expect(asked[2]).toBe("AbCdEf123");
});

test("a user's message after the results of calls gets an answer before it", async () => {
  const messages = await ask(user("one"), calls("call_1"), user("Stop there."));
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "user"]);
  expect(messages.at(-1)?.content).toEqual([{ type: "text", text: "Stop there." }]);
});

test("F46: an empty response between the results and a user's message does not count as the answer", async () => {
  const empty = { role: "assistant", parts: [{ type: "text", text: "" }], results: [] } as const;
  const messages = await ask(user("one"), calls("call_1"), empty, user("Stop there."));
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "user"]);
});
