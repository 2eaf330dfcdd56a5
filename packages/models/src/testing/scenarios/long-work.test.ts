import { costOf } from "@banyan/core/conversation";
import { describe, expect, test } from "vitest";
import { type Format, formats } from "./formats.ts";
import { demanded, fourAtOnce, handedOn, LONG, listenedTo, neverFits, SUMMARY, summedUp } from "./long-work.ts";
import { type Played, play, type Scenario } from "./play.ts";

/** Plays a scenario with every format, and compares the sums with the mock's journal. */
async function playAll(scenario: Scenario): Promise<Played[]> {
  const all = await Promise.all(formats.map((format) => play(format, scenario)));
  for (const { format, state, requests, journalled, told } of all) {
    expect(requests, `${format.name}: one request for each reply`).toHaveLength(scenario.replies.length);
    expect(journalled, `${format.name}: the mock gave all replies`).toEqual(told);
    expect(state.usage, `${format.name}: usage`).toEqual(journalled);
    expectCost(format, state.cost, journalled);
    for (const { body } of requests) {
      expect(format.emptyIn(body), `${format.name}: no message without content`).toEqual([]);
      for (const { calls, results } of format.exchanges(body)) {
        expect(
          results.map(({ call }) => call),
          `${format.name}: one result for each call`,
        ).toEqual(calls);
      }
    }
  }
  return all;
}

function expectCost({ name, price }: Format, cost: number | undefined, usage: Played["journalled"]): void {
  const due = costOf(usage, price);
  expect(cost, `${name}: cost`).toEqual(due === undefined ? undefined : expect.closeTo(due, 10));
}

describe("over HTTP, on every format,", () => {
  test("F24, B41: usage and cost of a turn with four sub-agents are the sum of the mock's own journal", async () => {
    for (const { format, turns, state, requests, journalled } of await playAll(fourAtOnce)) {
      const [turn] = turns;
      expect(turn, format.name).toMatchObject({ reason: "answered", text: "All told.", steps: 2 });
      expect(turn?.usage, format.name).toEqual(journalled);
      expectCost(format, turn?.cost, journalled);
      const results = format.exchanges(last(requests)).flatMap((exchange) => exchange.results);
      expect(results, format.name).toMatchObject([
        { output: "done ably" },
        { output: expect.stringMatching(/the sub-agent failed: .*Pay first.* Its last text:\\?n?\s*I see\./s) },
        { output: "done patiently" },
        { output: "done at last" },
      ]);
      // The parent only gets the sub-agents' results.
      expect(JSON.stringify(last(requests)), format.name).not.toContain("I am done.");
      expect(state.children.get(null), format.name).toHaveLength(1);
    }
  });

  test("B39, B44: a task is finished by finish_task alone, with a result that fits", async () => {
    for (const { format, turns, requests, shape } of await playAll(demanded)) {
      expect(turns, format.name).toMatchObject([{ reason: "finished", result: { count: 3 }, text: '{"count":3}' }]);
      expect(shape.messages.map(({ by }) => by)).toEqual([
        "user",
        "assistant",
        "user (system)",
        "assistant",
        "assistant",
      ]);
      const bodies = requests.map(({ text }) => text);
      for (const body of bodies) expect(body, format.name).toMatch(/"finish_task".*"count"/s);
      expect(bodies[1], format.name).toContain("You called no tool.");
      const [misfit] = format.exchanges(last(requests));
      expect(misfit?.results[0]?.output, format.name).toMatch(/do not match its schema/);
    }
  });

  test("B44: a result that does not match is requested once more, and then the turn fails", async () => {
    for (const { format, turns } of await playAll(neverFits)) {
      expect(turns, format.name).toMatchObject([{ reason: "failed", result: undefined, error: { code: "output" } }]);
    }
  });

  test("B42: a summary's request follows the conversation, and covered messages are not sent again", async () => {
    for (const { format, turns, requests, state } of await playAll(summedUp)) {
      expect(turns.at(-1), format.name).toMatchObject({ reason: "answered", text: "Both seen." });
      const [asked, answered] = requests.slice(-2);
      expect(asked?.text, format.name).toContain("Sum up the conversation above");
      // The second call has no answer yet, so it stays and is not compacted (F88).
      expect(format.exchanges(asked?.body), format.name).toHaveLength(1);
      expect(answered?.text, format.name).toContain(SUMMARY);
      expect(answered?.text, format.name).not.toContain(LONG.trim());
      expect(format.exchanges(answered?.body).map(({ results }) => results[0]?.output)).toEqual(["seen: b"]);
      expect([...state.messages.values()].filter(({ role }) => role === "summary")).toMatchObject([
        { usage: { input: 600, output: 42 } },
      ]);
    }
  });

  test("B32: a follower's message comes before the next answer", async () => {
    for (const { format, shape, requests } of await playAll(listenedTo)) {
      expect(shape.messages.slice(2), format.name).toMatchObject([
        { by: "assistant", text: "Hear, hear." },
        { by: "user (tool)", text: "Heard 11 letters." },
        { by: "assistant", text: "That was it." },
      ]);
      expect(last(requests), format.name).toSatisfy((body) => JSON.stringify(body).includes("Heard 11 letters."));
    }
  });

  test("B41: a sub-agent sees nothing of its parent's conversation but its task", async () => {
    for (const { format, requests } of await playAll(handedOn)) {
      const own = requests[1]?.text ?? "";
      expect(own, format.name).toContain("Dig");
      expect(own, format.name).not.toMatch(/"Go"/);
      expect(format.exchanges(last(requests))[0]?.results[0]?.output, format.name).toBe("gold");
    }
  });
});

function last(requests: Played["requests"]): unknown {
  return requests.at(-1)?.body;
}
