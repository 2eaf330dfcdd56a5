import { expect, test } from "vitest";
import { bodiesOf, calls, look, user } from "./request.fixture.ts";

const env = (address: string) => ({
  AWS_REGION: "eu-west-1",
  AWS_BEARER_TOKEN_BEDROCK: "k",
  AMAZON_BEDROCK_BASE_URL: address,
});

const cachePoints = (body: unknown) => JSON.stringify(body).split('"cachePoint"').length - 1;
const request = {
  instructions: "Be kind.",
  tools: [look],
  messages: [user("one"), calls("functions.look:0"), user("two")],
};

test("Claude on Bedrock gets marks for its cache; a model that refuses them gets none", async () => {
  const [claude] = await bodiesOf("amazon-bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0", env, request);
  const [other] = await bodiesOf("amazon-bedrock/mistral.mistral-large-2402-v1:0", env, request);
  expect(cachePoints(claude)).toBe(3);
  expect(cachePoints(other)).toBe(0);
});

test("ids of calls are in its form", async () => {
  const [body] = await bodiesOf("amazon-bedrock/amazon.nova-pro-v1:0", env, request);
  const ids = [...JSON.stringify(body).matchAll(/"toolUseId":"([^"]*)"/g)].map(([, id]) => id);
  expect(ids).toHaveLength(2);
  expect(ids[0]).toMatch(/^[\w-]{1,64}$/);
  expect(ids[1]).toBe(ids[0]);
});
