import { Agent, defineTool, Session } from "@banyan/core";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { formats, openAt } from "./testing/scenarios/formats.ts";
import { relayTo } from "./testing/scenarios/relay.ts";
import { calling, look, open } from "./testing/scenarios/tools.ts";

const mock = new LLMock({ port: 0, logLevel: "silent", strict: true });
beforeAll(() => mock.start());
afterAll(() => mock.stop());
beforeEach(() => mock.reset());

/** A name that providers refuse, so that requests have another name for it. */
const odd = defineTool({
  name: "-look-",
  description: "Looks elsewhere.",
  input: { type: "object" },
  effects: "none",
  execute: () => "seen elsewhere",
});

// The mock cannot force a call, so it plays a model that obeys.
describe.each(formats.filter(({ model }) => !model.startsWith("ollama")))("over HTTP: $name", (format) => {
  test("L6: a forced call is in the first request of a turn only, and the turn ends", async () => {
    mock.addFixture({ match: { sequenceIndex: 0 }, response: { toolCalls: [calling("call_1", "look", { at: "a" })] } });
    mock.addFixture({ match: { sequenceIndex: 1 }, response: { content: "Seen." } });
    await using relay = await relayTo(mock.url);
    const model = await openAt(format, relay.address);
    const agent = new Agent({ model, tools: [look, odd], toolChoice: { tool: "look" } });
    expect(await agent.send("Look")).toMatchObject({ reason: "answered", text: "Seen.", steps: 2 });
    const [first, second] = relay.requests.map(({ body }) => format.choiceIn(body));
    expect(JSON.stringify(first)).toMatch(/"look"|"ANY"/);
    expect(JSON.stringify(second) ?? "").not.toMatch(/look|ANY/);
  });

  test("L6: a model that ignores the choice fails the turn with a sentence, and its text is kept", async () => {
    mock.onMessage("Look", { content: "I would rather not." });
    const model = await openAt(format, mock.url);
    await expect(new Agent({ model, tools: [look], toolChoice: "required" }).send("Look")).rejects.toMatchObject({
      code: "invalid-request",
      message: expect.stringContaining(`${model.id} responded without calling a tool`),
      turn: { text: "I would rather not.", steps: 1 },
    });
  });
});

test.each(formats)(
  "L6: over HTTP, $name gets the tools of each step, with the same bytes for the same tools",
  async (format) => {
    mock.addFixture({ match: { sequenceIndex: 0 }, response: { toolCalls: [calling("call_1", "look", { at: "a" })] } });
    mock.addFixture({ match: { sequenceIndex: 1 }, response: { toolCalls: [calling("call_2", "look", { at: "b" })] } });
    mock.addFixture({ match: { sequenceIndex: 2 }, response: { content: "Seen." } });
    await using relay = await relayTo(mock.url);
    const toolsFor = ({ step }: { readonly step: number }) => (step < 3 ? ["look"] : ["open"]);
    const agent = new Agent({ model: await openAt(format, relay.address), tools: [look, open], toolsFor });
    expect(await agent.send("Look")).toMatchObject({ reason: "answered", text: "Seen.", steps: 3 });
    const [first, second, third] = relay.requests.map(({ body }) => JSON.stringify((body as { tools: unknown }).tools));
    expect(first).toContain('"look"');
    expect(first).not.toContain('"open"');
    expect(second).toBe(first);
    expect(third).toContain('"open"');
    expect(third).not.toContain('"look"');
  },
);

test.each(formats)(
  "L6: over HTTP, $name gets the text of toModelOutput, and no other part of the result",
  async (format) => {
    mock.addFixture({ match: { sequenceIndex: 0 }, response: { toolCalls: [calling("call_1", "look", { at: "a" })] } });
    mock.addFixture({ match: { sequenceIndex: 1 }, response: { content: "Seen." } });
    mock.addFixture({ match: { sequenceIndex: 2 }, response: { content: "Again." } });
    await using relay = await relayTo(mock.url);
    const masked = defineTool({ ...look, toModelOutput: (output) => `${output.length} letters` });
    const model = await openAt(format, relay.address);
    const session = Session.inMemory();
    await new Agent({ model, tools: [masked] }).send("Look", { session });
    // A later agent does not have the tool.
    await new Agent({ model }).send("And?", { session });
    const bodies = relay.requests.map(({ body }) => JSON.stringify(body));
    expect(bodies.map((body) => body.includes("7 letters"))).toEqual([false, true, true]);
    expect(bodies.join()).not.toContain("seen: a");
    expect(JSON.stringify(session.state)).toContain("seen: a");
  },
);

test("L6: a forced tool has the name that its provider gets", async () => {
  const google = formats.find(({ name }) => name === "Gemini");
  if (!google) throw new Error("There is no format Gemini.");
  await using relay = await relayTo(mock.url);
  const agent = new Agent({ model: await openAt(google, relay.address), tools: [odd], toolChoice: { tool: "-look-" } });
  mock.onMessage("Look", { content: "No." });
  await expect(agent.send("Look")).rejects.toThrow('responded without calling "-look-"');
  const body = JSON.stringify(relay.requests[0]?.body);
  const forced = /"allowedFunctionNames":\["(look__\w{9})"\]/.exec(body)?.[1];
  expect(forced).toBeDefined();
  expect(body).toContain(`"name":"${forced}"`);
});
