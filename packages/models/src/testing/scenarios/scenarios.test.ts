import { costOf } from "@banyan/core/conversation";
import { describe, expect, test } from "vitest";
import { breaks } from "./breaks.ts";
import { formats } from "./formats.ts";
import { type Played, play, type Scenario } from "./play.ts";
import { scenarios, UNICODE } from "./scenarios.ts";

/** Plays a scenario with every format, and checks what holds for every conversation. */
async function playAll(scenario: Scenario): Promise<Played[]> {
  const able = formats.filter(({ callsComeWhole }) => !(callsComeWhole && scenario.breaksCalls));
  const all = await Promise.all(able.map((format) => play(format, scenario)));
  for (const played of all) {
    const { format, requests, journal, state, told } = played;
    expect(
      requests.map(({ path }) => path),
      `${format.name}: one request for each reply`,
    ).toEqual(scenario.replies.map(() => format.path));
    expect(journal, `${format.name}: the mock had the same requests`).toHaveLength(requests.length);
    expect(state.usage, `${format.name}: every token is counted once`).toEqual(told);
    expectCost(played);
    for (const { body } of requests) {
      expect(format.emptyIn(body), `${format.name}: no message without content`).toEqual([]);
      for (const { calls, results } of format.exchanges(body)) {
        expect(
          results.map(({ call }) => call),
          `${format.name}: one result for each call`,
        ).toEqual(calls);
      }
    }
    expectAllResults(played);
  }
  return all;
}

/** Expects one result per call of the tree in the last request: the tree's result. */
function expectAllResults({ format, requests, state }: Played): void {
  const calls = [...state.messages.values()].flatMap((message) => (message.role === "assistant" ? message.calls : []));
  const given = format.exchanges(requests.at(-1)?.body).flatMap(({ results }) => results);
  expect(given, `${format.name}: the results in the last request`).toEqual(
    calls.map(({ id, status, output = "" }) => ({
      call: id,
      output: status === "completed" ? output : format.failure(output),
    })),
  );
}

function expectCost({ format, state }: Played): void {
  const cost = costOf(state.usage, format.price);
  if (cost === undefined) expect(state.cost, `${format.name}: an unknown price is unknown`).toBeUndefined();
  else expect(state.cost, `${format.name}: cost`).toBeCloseTo(cost, 10);
}

describe("over HTTP, the same tree on every format:", () => {
  test.each([...scenarios, ...breaks])("$name", async (scenario) => {
    const all = await playAll(scenario);
    for (const { format, shape } of all) {
      expect(shape, format.name).toEqual(scenario.shape);
      expect(shape, `${format.name}, as ${all[0]?.format.name}`).toStrictEqual(all[0]?.shape);
    }
  });
});

describe("over HTTP, on every format,", () => {
  test("a model that answers with a call, another call, then text gets exactly three requests", async () => {
    for (const { format, turns, journal } of await playAll(named("one call, then another call, then text"))) {
      expect(journal, format.name).toHaveLength(3);
      expect(turns, format.name).toMatchObject([
        { text: "Both seen.", reason: "answered", steps: 3, error: undefined },
      ]);
    }
  });

  test("the last request at the step limit forbids calls, and the turn ends with the text of its answer", async () => {
    for (const { format, turns, requests } of await playAll(named("the step limit"))) {
      const choices = requests.map(({ body }) => format.choiceIn(body));
      expect(choices.at(-1), format.name).toEqual(format.noCalls);
      expect(choices.slice(0, -1), format.name).not.toContainEqual(format.noCalls);
      expect(turns, format.name).toMatchObject([{ text: "Seen so far: a and b.", reason: "limit", steps: 2 }]);
    }
  });

  test("any Unicode text of user, tool and model is sent unchanged", async () => {
    for (const { format, journal, requests } of await playAll(named("any Unicode"))) {
      const last = journal.at(-1)?.messages ?? [];
      expect(last.find(({ role }) => role === "user")?.content, format.name).toBe(UNICODE);
      const [exchange] = format.exchanges(requests.at(-1)?.body);
      expect(exchange?.results[0]?.output, format.name).toBe(`seen: ${UNICODE}`);
      const asked = last.find(({ tool_calls }) => tool_calls)?.tool_calls?.[0]?.function.arguments ?? "";
      expect(JSON.parse(asked), format.name).toEqual({ at: UNICODE });
    }
  });

  test.each([
    ["reasoning, and a second turn", "Six times seven.", true],
    ["reasoning before a call", "I should look.", true],
    ["an interruption after the model has thought", "A tale.", false],
  ])("%s: the reasoning goes back as the provider wants to see it again", async (name, text, finished) => {
    for (const { format, requests } of await playAll(named(name))) {
      const given = format.givenBack({ text, signature: "c2lnbmVk", finished });
      expect(
        requests.map(({ body }) => format.reasoningIn(body)),
        format.name,
      ).toEqual([[], given]);
    }
  });

  test("B20: usage and cost of a turn are the sum of its model calls, and an unknown price stays unknown", async () => {
    const priced: (number | undefined)[] = [];
    for (const { format, turns, told } of await playAll(named("three rounds"))) {
      const [rounds, thanks] = turns;
      expect(rounds?.usage, format.name).toMatchObject({ input: 100 + 200 + 300 + 400, output: 7 + 14 + 21 + 28 });
      expect(thanks?.usage, format.name).toMatchObject({ input: 500, output: 35 });
      expect(told, format.name).toMatchObject({ input: 1500, output: 105 });
      priced.push(rounds?.cost);
    }
    const gpt = (1000 * 1.25 + 70 * 10) / 1e6;
    const claude = (1000 * 3 + 70 * 15) / 1e6;
    const gemini = (1000 * 0.3 + 70 * 2.5) / 1e6;
    expect(priced).toEqual(
      [undefined, gpt, gpt, gpt, claude, claude, gemini, gemini, 0].map((cost) => cost && expect.closeTo(cost, 10)),
    );
  });

  test("F16: a stream that is cut each time fails the turn, and the partial answer is kept", async () => {
    for (const { format, turns } of await playAll(named("a stream that is cut each time"))) {
      expect(turns, format.name).toMatchObject([
        { reason: "failed", text: "Good morni", error: { code: "broken-stream" } },
        { reason: "answered", text: "Yes." },
      ]);
    }
  });
});

const everything = [...scenarios, ...breaks];

/** The scenario whose name begins like this. */
function named(beginning: string): Scenario {
  const found = everything.find(({ name }) => name.startsWith(beginning));
  if (!found) throw new Error(`No scenario begins with "${beginning}".`);
  return found;
}
