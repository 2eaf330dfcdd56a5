import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { Agent } from "../agent/agent.ts";
import { say } from "../agent/directive.ts";
import type { Event } from "../conversation/event.ts";
import type { FeedItem } from "../conversation/feed-item.ts";
import type { Call } from "../conversation/message.ts";
import type { Json } from "../conversation/part.ts";
import { defineTool, isCallOf } from "../ports/define-tool.ts";
import type { Tool } from "../ports/tool.ts";
import { Session } from "../session/session.ts";
import { collect } from "../testing/collect.ts";
import { call, scriptedModel } from "../testing/scripted-model.ts";
import { storeOf } from "../turn/store-of.fixture.ts";

const city = z.object({ city: z.string(), days: z.number().default(3) });

test("L2: a tool keeps the types of its input and its output, and fits into a list of tools", () => {
  const weather = defineTool({
    name: "weather",
    description: "Tells the weather.",
    input: city,
    effects: "none",
    execute: async ({ city, days }) => ({ city, degrees: days }),
  });
  expectTypeOf(weather).toEqualTypeOf<Tool<z.output<typeof city>, { city: string; degrees: number }>>();
  const clock = defineTool({
    name: "clock",
    description: "Tells the time.",
    input: { type: "object" },
    effects: "none",
    execute: () => "12:00",
  });
  expectTypeOf(clock).toEqualTypeOf<Tool<unknown, string>>();
  const tools: readonly Tool[] = [weather, clock];
  expectTypeOf(tools).items.toEqualTypeOf<Tool>();
});

test("L2: the compiler names the option that a tool lacks", () => {
  const describe = () =>
    // @ts-expect-error Property 'effects' is missing.
    defineTool({ name: "look", description: "Looks.", input: city, execute: () => "seen" });
  expectTypeOf(describe).toBeFunction();
});

const trip = defineTool({
  name: "trip",
  description: "Books a trip.",
  input: z.object({
    city: z.string(),
    days: z.number().default(3),
    begins: z.iso.date().transform((text) => new Date(`${text}T00:00:00Z`)),
  }),
  effects: "none",
  execute: ({ city, begins }) => {
    if (city === "Nowhere") throw new Error("There is no such city.");
    return { city, year: begins.getUTCFullYear() };
  },
});
const echo = defineTool({
  name: "echo",
  description: "Repeats.",
  input: { type: "object" },
  effects: "none",
  execute: (input) => JSON.stringify(input),
});

interface TripInput {
  readonly city: string;
  readonly days: number;
  readonly begins: string;
}
const rome: TripInput = { city: "Rome", days: 3, begins: "2026-11-29T00:00:00.000Z" };
const script = () => [
  [
    call("trip", { city: "Rome", begins: "2026-11-29" }),
    call("echo", { city: "Oslo" }),
    call("trip", { city: 7 }),
    call("trip", { city: "Nowhere", begins: "2026-11-29" }),
  ],
  "Done.",
];

test("L2: isCallOf gives the calls of a tool in the stream the type of its arguments", async () => {
  const events: Event[] = [];
  const agent = new Agent({ model: scriptedModel(script()), tools: [trip, echo] });
  const session = await Session.open(storeOf(events), "trips", { create: true });
  const trips: TripInput[] = [];
  const outputs: string[] = [];
  for await (const item of agent.chat(say("Go."), { session })) {
    if (!isCallOf(item, trip)) continue;
    expectTypeOf(item.type).toEqualTypeOf<"call.completed">();
    trips.push(item.input);
    outputs.push(item.output);
  }
  // A call with wrong arguments and a failed call are not completed.
  expect(trips).toEqual([rome]);
  expect(outputs).toEqual(['{"city":"Rome","year":2026}']);
  await session.close();
  // Another process reads the same from the log, and from the calls of a message.
  await using reopened = await Session.open(storeOf(events), "trips");
  const stored = events.filter((event) => isCallOf(event, trip));
  expect(stored.map(({ input }) => input)).toEqual([rome]);
  const calls = [...reopened.state.messages.values()].flatMap((message) =>
    message.role === "assistant" ? message.calls : [],
  );
  expect(calls.filter((one) => isCallOf(one, trip)).map(({ input }) => input)).toEqual([rome]);
});

test("L2: isCallOf knows the tools apart, and types arguments of a JSON Schema as JSON", async () => {
  const agent = new Agent({ model: scriptedModel(script()), tools: [trip, echo] });
  const items = await collect(agent.chat(say("Go.")));
  const echoes = items.filter((item) => isCallOf(item, echo));
  expect(echoes.map(({ input }) => input)).toEqual([{ city: "Oslo" }]);
  const json = (item: FeedItem) => (isCallOf(item, echo) ? item.input : null);
  expectTypeOf(json).returns.toEqualTypeOf<Json>();
  const begins = (item: FeedItem) => (isCallOf(item, trip) ? item.input.begins : undefined);
  expectTypeOf(begins).returns.toEqualTypeOf<string | undefined>();
  const days = (item: FeedItem) => (isCallOf(item, trip) ? item.input.days : undefined);
  expectTypeOf(days).returns.toEqualTypeOf<number | undefined>();
  // @ts-expect-error The schema has no such name.
  const wrong = (item: FeedItem) => (isCallOf(item, trip) ? item.input.town : undefined);
  expectTypeOf(wrong).toBeFunction();
  const ofMessage = (one: Call) => (isCallOf(one, trip) ? one.input.begins : undefined);
  expectTypeOf(ofMessage).returns.toEqualTypeOf<string | undefined>();
});
