import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { Agent, RateLimit, say } from "@banyan/core";
import { collect } from "@banyan/core/testing";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { resolveModel } from "./resolve.ts";

const mock = new LLMock({ port: 0, chunkSize: 4, logLevel: "silent" });
beforeAll(() => mock.start());
afterAll(() => mock.stop());
beforeEach(() => mock.reset());

test("L6: agents of two providers share one limit, and no request is sent without room", async () => {
  mock.on({}, { content: "Hello." });
  const rateLimit = new RateLimit({ requestsPerMinute: 2 });
  const anthropic = { ANTHROPIC_API_KEY: "test", ANTHROPIC_BASE_URL: mock.url };
  const names = [
    await resolveModel("anthropic/claude-sonnet-4-5", { env: anthropic }),
    await resolveModel("openai-compatible/any", { env: { OPENAI_COMPATIBLE_BASE_URL: `${mock.url}/v1` } }),
  ];
  const [one, other] = names.map((model) => new Agent({ model, rateLimit }));
  await Promise.all([one?.send("Hi"), other?.send("Hi")]);
  const hurried = one?.with({ limits: { time: 300, policy: "fail" } }) as Agent;
  const items = await collect(hurried.chat(say("Again")));
  expect(items.filter(({ type }) => type === "model.retrying")).toMatchObject([{ attempt: 1, code: "rate-limit" }]);
  expect(mock.getRequests()).toHaveLength(2);
});

const PROGRAM = `
import { Agent, RateLimit, say } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
const rateLimit = new RateLimit({ requestsPerMinute: 1 });
const agent = new Agent({ model: scriptedModel(() => "Hello."), rateLimit });
await agent.send("Hi");
const stopping = new AbortController();
process.once("SIGINT", () => stopping.abort());
for await (const item of agent.chat(say("Again"), { signal: stopping.signal })) {
  if (item.type === "model.retrying") process.stdout.write("waits ");
  if (item.type === "chat.ended") process.stdout.write(item.reason);
}
`;

test("L6: Ctrl-C ends a program that waits for its rate limit", async () => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", PROGRAM], { cwd: import.meta.dirname });
  const written = text(child.stdout);
  await once(child.stdout, "data");
  child.kill("SIGINT");
  const [code] = await once(child, "close");
  expect([await written, code]).toEqual(["waits interrupted", 0]);
});
