import { type Event, Session, type Store } from "@banyan/core";
import type { Log } from "@banyan/core/stores";
import { describe, expect, test } from "vitest";
import { breaks } from "./breaks.ts";
import { formats as all, type Format } from "./formats.ts";
import { handedOn, listenedTo, SUMMARY, summedUp } from "./long-work.ts";
import { type Played, play, type Scenario } from "./play.ts";
import { scenarios, UNICODE } from "./scenarios.ts";
import { calling, look, open, scan } from "./tools.ts";

/** Each driver once: the address makes no difference for them. */
const formats = all.filter(
  ({ path, throughPackage }, index) => throughPackage || all.findIndex((format) => format.path === path) === index,
);

/** A store of one conversation that keeps text, like a disk. */
class TextStore implements Store {
  readonly #lines: string[];
  readonly #epoch: number;

  constructor(lines: readonly string[] = [], epoch = 1) {
    this.#lines = [...lines];
    this.#epoch = epoch;
  }

  /** The state that another process finds now. */
  reload(): TextStore {
    return new TextStore(this.#lines, this.#epoch + 1);
  }

  async open(): Promise<Log> {
    const lines = this.#lines;
    return {
      epoch: this.#epoch,
      get seq() {
        return lines.length;
      },
      read: async function* (after = 0) {
        yield lines.slice(after).map((line) => JSON.parse(line) as Event);
      },
      append: (events) => void lines.push(...events.map((event) => JSON.stringify(event))),
      close: async () => {},
    };
  }

  async view() {
    return this.open();
  }

  async list() {
    return [];
  }

  async search() {
    return [];
  }

  async remove() {}

  async close() {}
}

const MORE = ["And now?", "And now?"];
const replies = [{ response: { content: "Now this." } }, { response: { content: "Now this." } }];

/**
 * Plays a scenario, then sends one more message twice: in the session that has seen everything, and in a session of
 * another process. Returns both requests, byte for byte.
 */
async function reload(format: Format, scenario: Scenario): Promise<{ played: Played; live: string; reloaded: string }> {
  const { says } = scenario;
  const store = new TextStore();
  let stored = store;
  let session = await Session.open(store);
  const played = await play(
    format,
    { ...scenario, says: [...says, ...MORE], replies: [...scenario.replies, ...replies] },
    async (index) => {
      if (index === says.length) stored = store.reload();
      if (index > says.length) session = await Session.open(stored, session.id);
      return session;
    },
  );
  const [live, reloaded] = played.requests.slice(-2).map(({ text }) => text);
  return { played, live: live ?? "", reloaded: reloaded ?? "" };
}

/** One conversation with all data that providers need back. */
const eventful: Scenario & { readonly name: string } = {
  name: "reasoning with signatures, calls, a failed call, an answer that was interrupted, one that broke, and all of Unicode",
  says: [UNICODE, { text: "Tell me more", interruptAt: "Once" }, "Go on", "Look again"],
  agent: {
    name: "a",
    instructions: "Be brief.",
    tools: [look, open],
    settings: { effort: "low", maxTokens: 2000 },
    retry: { attempts: 1 },
  },
  replies: [
    {
      response: {
        content: "Let me see.",
        reasoning: "I should look, and open it.",
        reasoningSignature: "c2lnbmVkIG9uZQ==",
        toolCalls: [calling("call_1", "look", { at: UNICODE }), calling("call_2", "open", { at: "b" })],
      },
    },
    { response: { content: UNICODE, reasoning: "The lid is stuck.", reasoningSignature: "c2lnbmVkIHR3bw==" } },
    {
      response: { content: "Once upon a time" },
      fragment: 4,
      stops: { how: "silent", in: "text", after: 1 },
    },
    {
      response: { content: "There was", reasoning: "A story, then." },
      fragment: 5,
      stops: { how: "cut", in: "textAfterReasoning", after: 1 },
    },
    { response: { toolCalls: [calling("call_1", "look", { at: "the same id again" })] } },
    { response: { content: "All seen." } },
  ],
};

/** A tool's result with files. */
const pictured: Scenario & { readonly name: string } = {
  name: "a picture and a document of a tool",
  says: ["Scan it", "Once more"],
  agent: { name: "a", instructions: "Be brief.", tools: [scan] },
  replies: [
    { response: { toolCalls: [calling("call_1", "scan", {})] } },
    { response: { content: "A dot." } },
    { response: { toolCalls: [calling("call_2", "scan", {})] } },
    { response: { content: "The same." } },
  ],
};

describe("invariant 2: a conversation that is opened again asks the provider the same, byte for byte, on every format:", () => {
  test.each([eventful, pictured, summedUp, listenedTo, handedOn, ...scenarios, ...breaks])(
    "$name",
    async (scenario) => {
      const able = formats.filter(({ callsComeWhole }) => !(callsComeWhole && "breaksCalls" in scenario));
      for (const { played, live, reloaded } of await Promise.all(able.map((format) => reload(format, scenario)))) {
        expect(live.length, played.format.name).toBeGreaterThan(20);
        expect(reloaded, played.format.name).toBe(live);
      }
    },
  );

  test.each([
    { ...summedUp, said: SUMMARY },
    { ...listenedTo, said: "Heard 11 letters." },
    { ...handedOn, said: "gold" },
  ])("and the next request has $name", async ({ said, ...scenario }) => {
    for (const format of formats) {
      const { live } = await reload(format, scenario);
      expect(live, format.name).toContain(said);
    }
  });

  test("and the next request has the subject of the eventful conversation", async () => {
    for (const format of formats) {
      const { played } = await reload(format, eventful);
      const { body } = played.requests.at(-1) ?? {};
      const exchanges = format.exchanges(body);
      expect(
        exchanges.map(({ calls }) => calls.length),
        format.name,
      ).toEqual([2, 1]);
      expect(exchanges[0]?.results[1]?.output, format.name).toContain("the lid is stuck");
      expect(JSON.stringify(body), format.name).toContain("Once");
      const signed = { text: "I should look, and open it.", signature: "c2lnbmVkIG9uZQ==", finished: true };
      const [first] = format.givenBack(signed);
      if (first) expect(format.reasoningIn(body)[0], format.name).toEqual(first);
    }
  });
});

/** The fields with messages by format; all else of a request is its head. */
const SAID = ["messages", "input", "contents"] as const;

/** Cache marks, which move with each request. */
const MARKS = new Set(["cache_control", "cachePoint"]);

/** Response limits, which differ for a summary (F92): a provider caches a prompt regardless of them. */
const LIMITS = new Set(["max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "maxTokens"]);

function parts(body: unknown): { readonly head: object; readonly said: string } {
  const bare = JSON.parse(
    JSON.stringify(body, (key, value) => (MARKS.has(key) || LIMITS.has(key) ? undefined : value)),
  );
  const place = SAID.find((name) => Array.isArray(bare[name])) ?? "messages";
  const { [place]: said, ...head } = bare;
  return { head, said: JSON.stringify(said) };
}

/** Messages without the last one, and without the end of their list. */
function withoutLast(said: string): string {
  return JSON.stringify(JSON.parse(said).slice(0, -1)).slice(0, -1);
}

describe("the next request begins with the part that a provider keeps, in each format:", () => {
  test.each([eventful, pictured, listenedTo, summedUp])("$name", async (scenario) => {
    for (const format of formats) {
      const { played } = await reload(format, scenario);
      const requests = played.requests.map(({ body }) => parts(body));
      // After the summary another conversation begins, with the same head.
      const summed = played.requests.findIndex(({ text }) => text.includes("Sum up the conversation"));
      for (const [index, { head, said }] of requests.slice(1).entries()) {
        const before = requests[index];
        expect(head, format.name).toEqual(before?.head);
        // A message may continue where it ended.
        const begins = said.startsWith(before?.said.replace(/[\]}]+$/, "") ?? "");
        const isSummary = index + 1 === summed;
        // A request for a summary leaves out the newest messages, which stay uncompacted (F88).
        if (isSummary) expect(before?.said.startsWith(withoutLast(said)), format.name).toBe(true);
        else expect(begins, `${format.name}, request ${index + 2}`).toBe(index !== summed || summed < 0);
      }
    }
  });
});
