import fc from "fast-check";
import { expect, test } from "vitest";
import { Agent } from "../../agent/agent.ts";
import { retry, say } from "../../agent/directive.ts";
import { defineTool } from "../../ports/define-tool.ts";
import { promptFrom } from "../../run/prompt.ts";
import { Session } from "../../session/session.ts";
import { call, collect, reasoning, scriptedModel } from "../../testing/index.ts";
import type { Event } from "../event.ts";
import { isEvent } from "../feed-item.ts";
import { textOf, typedText } from "../message.ts";
import { emptyConversation } from "../state.ts";
import { leaves, pathTo } from "./path.ts";
import { readableEvent } from "./readable-event.ts";
import { reduce } from "./reduce.ts";

const look = defineTool({
  name: "look",
  description: "",
  input: { type: "object" },
  effects: "none",
  execute: () => "seen",
});

async function events(): Promise<Event[]> {
  const session = Session.inMemory();
  const feed = session.feed();
  const agent = new Agent({
    model: scriptedModel([[reasoning("Hm."), call("look")], "Done.", "Other."]),
    tools: [look],
  });
  const file = { type: "file", mediaType: "image/png", data: "AQID", name: "a.png" } as const;
  await collect(agent.chat(say([{ type: "text", text: "Hi" }, file]), { session }));
  await collect(agent.chat(retry("Hello"), { session }));
  await session.say("Later.");
  await session.close();
  return (await collect(feed)).filter(isEvent);
}

test("F77: parts of any shape in an event leave a conversation that can be shown and sent", async () => {
  const whole = await events();
  const bearing = whole.flatMap(({ type }, index) =>
    /^(message\.(added|completed|checkpoint)|input\.queued|call\.(pending|completed))$/.test(type) ? [index] : [],
  );
  const field = fc.constantFrom(
    "parts",
    "parts.0",
    "parts.0.type",
    "parts.0.text",
    "parts.0.data",
    "parts.1.mediaType",
    "parts.1.data",
    "parts.1.url",
    "parts.0.provider",
    "inputText",
    "tool",
    "output",
    "files",
  );
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constant({ type: "text", text: [] }),
    fc.constant([{ type: "call" }]),
  );
  fc.assert(
    fc.property(fc.constantFrom(...bearing), field, value, (index, path, wrong) => {
      const damaged = structuredClone(whole);
      const names = path.split(".");
      const last = names.pop() as string;
      let place = damaged[index] as unknown as Record<string, unknown>;
      for (const name of names) place = (place?.[name] ?? {}) as typeof place;
      if (typeof place !== "object") return;
      place[last] = wrong;
      const state = emptyConversation();
      for (const event of damaged) reduce(state, event);
      expect(state.messages.size).toBe(5);
      for (const leaf of leaves(state)) {
        const prompt = promptFrom(pathTo(state, leaf));
        for (const message of prompt) {
          expect(message.parts.every((part) => !("text" in part) || typeof part.text === "string")).toBe(true);
          if (message.role === "assistant")
            for (const result of message.results) expect(typeof result.output).toBe("string");
        }
      }
      for (const message of state.messages.values())
        expect([textOf(message), typedText(message)].every((text) => typeof text === "string")).toBe(true);
      for (const event of damaged) {
        const once = readableEvent(event);
        expect(readableEvent(once)).toBe(once);
      }
    }),
    { numRuns: process.env.BANYAN_LONG === "1" ? 20_000 : 300 },
  );
});

test("F77: a readable event stays the same, with added fields and parts of a newer version", () => {
  const at = { seq: 1, epoch: 1, at: 0 };
  const said = {
    ...at,
    type: "message.added",
    message: "m",
    parentId: null,
    role: "user",
    parts: [{ type: "text", text: "Hi", mood: 1 }],
  } as const;
  expect(readableEvent(said as Event)).toBe(said);
  const file = { type: "file", mediaType: "image/png", data: "AQ\nID", url: "gs://a/b" };
  expect(readableEvent({ ...said, parts: [file] } as Event)).not.toHaveProperty("unreadable");
  const answered = {
    ...at,
    type: "message.completed",
    message: "m",
    parts: [{ type: "hologram" }],
    finish: "stop",
    usage: {},
  };
  expect(readableEvent(answered as unknown as Event)).toBe(answered);
});

test("F77: an unreadable summary replaces nothing: the covered messages are sent", () => {
  const state = emptyConversation();
  const said = { epoch: 1, at: 0, type: "message.added", role: "user", parts: [{ type: "text", text: "Hi" }] };
  const bodies = [
    { ...said, message: "a", parentId: null },
    { ...said, message: "b", parentId: "a", role: "summary", covers: "a", parts: undefined },
    { ...said, message: "c", parentId: "b" },
  ];
  for (const [index, body] of bodies.entries()) reduce(state, { ...body, seq: index + 1 } as unknown as Event);
  expect(state.messages.get("b")).toMatchObject({ unreadable: "parts must be an array, not undefined." });
  expect(promptFrom(pathTo(state, "c"))).toHaveLength(2);
});

test.each<[Record<string, unknown>, Record<string, unknown>]>([
  [{ kept: [{ message: "a", characters: 5 }], leftOut: 2, state: "Plan" }, {}],
  [{ kept: [{ message: 5 }] }, { kept: undefined }],
  [{ kept: [{ message: "a", characters: "5" }], leftOut: 2 }, { kept: undefined }],
  [{ kept: "a" }, { kept: undefined }],
  [{ leftOut: -1, state: "Plan" }, { leftOut: undefined }],
  [{ state: { plan: [] }, leftOut: 1 }, { state: undefined }],
  [{ shortened: [{ call: "c", text: "Shortened." }], leftOut: "x" }, { leftOut: undefined }],
])("F77: a summary with %j keeps its text and the fields that can be read", (fields, wrong) => {
  const parts = [{ type: "text", text: "Sum." }];
  const at = { seq: 1, epoch: 1, at: 0, type: "message.added", message: "b", parentId: "a", role: "summary" };
  const summary = { ...at, covers: "a", parts, ...fields } as unknown as Event;
  const state = emptyConversation();
  reduce(state, summary);
  const expected = Object.entries({ ...fields, ...wrong }).filter(([, value]) => value !== undefined);
  const message = state.messages.get("b");
  expect(message).toMatchObject({ parts, ...Object.fromEntries(expected) });
  for (const name of Object.keys(wrong)) expect(message).not.toHaveProperty(name);
  const once = readableEvent(summary);
  expect(readableEvent(once)).toBe(once);
});

test.each([{ call: 1 }, "c", [{ call: "c" }], [{ call: "c", text: 5 }]])(
  "F77: a message whose `shortened` is %j shortens and covers nothing",
  (shortened) => {
    const at = { seq: 1, epoch: 1, at: 0, type: "message.added", message: "b", parentId: "a", role: "summary" };
    const state = emptyConversation();
    reduce(state, { ...at, parts: [], shortened } as unknown as Event);
    expect(state.messages.get("b")).toEqual({
      id: "b",
      parentId: "a",
      createdAt: 0,
      role: "summary",
      parts: [],
      shortened: [],
    });
  },
);

test.each([
  [{ type: "file", mediaType: "image/png" }, "parts[0] has neither data nor url."],
  [{ type: "file", mediaType: "image/png", data: "***" }, "parts[0].data is not base 64."],
  [{ type: "file", mediaType: "image/png", url: "nowhere" }, "parts[0].url is not an address."],
  [{ type: "file", mediaType: 5, data: "AQID" }, "parts[0].mediaType must be a string, not a number."],
  [{ type: "hologram" }, 'parts[0] has the type "hologram", which this version does not know.'],
  [null, "parts[0] must be a part, not null."],
])("F77: the notice gives the reason for a user's part %j", (part, unreadable) => {
  const event = {
    seq: 1,
    epoch: 1,
    at: 0,
    type: "message.added",
    message: "m",
    parentId: null,
    role: "user",
    parts: [part],
  };
  expect(readableEvent(event as unknown as Event)).toEqual({ ...event, parts: [], unreadable });
});
