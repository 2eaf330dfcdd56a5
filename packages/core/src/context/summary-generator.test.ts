import fc from "fast-check";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { resume } from "../agent/directive.ts";
import { DirectiveError } from "../conversation/checked/user-content.ts";
import type { Event } from "../conversation/event.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { ModelRequest } from "../ports/model.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { collect } from "../testing/collect.ts";
import {
  type Beat,
  call,
  cut,
  end,
  fail,
  finishTask,
  scriptedModel,
  spend,
  stall,
  text,
} from "../testing/scripted-model.ts";
import { storeOf } from "../turn/store-of.fixture.ts";

// Conversations of random sizes with summary models that fail in all ways. The judge knows nothing about the making of
// summaries: it reads the requests as JSON, and the log.

const SUMMARY =
  "What counts of all this is written down here, in the words of a model that writes enough of them. ".repeat(3);

/** Responses of a model to a request for a summary. */
const WRITERS: Record<string, (bound: number) => readonly Beat[]> = {
  good: () => [text(SUMMARY)],
  empty: () => [text("  ")],
  "too short": () => [text("The work continues.")],
  refuses: () => [text("I"), end("filtered")],
  filtered: () => [fail("filtered")],
  "429": () => [fail("rate-limit", { status: 429, retryAfter: 1 })],
  "503": () => [fail("overloaded", { status: 503 })],
  quota: () => [fail("quota")],
  stalls: () => [text("Half"), stall()],
  breaks: () => [text("Half"), cut()],
  calls: () => [call("look", { size: 1 })],
  "too long": () => [text("word ".repeat(20_000))],
  "cut by length": () => [text(SUMMARY), end("length")],
  "reasoning alone": () => [end("length")],
};

const NAMES = Object.keys(WRITERS);

/** A conversation, which a test may continue from the log of a killed process. */
interface Plan {
  readonly window: number;
  readonly turns: readonly { readonly said: number; readonly looks: readonly number[] }[];
  readonly writers: readonly string[];
  /** The process ends after this turn, and another opens the log. */
  readonly restart: number;
  readonly isTask: boolean;
  /** Events that are in the log already. */
  readonly left?: readonly Event[];
}

const share = fc.integer({ min: 1, max: 18 });
const plans: fc.Arbitrary<Plan> = fc.record({
  window: fc.constantFrom(4_000, 8_000, 20_000),
  turns: fc.array(fc.record({ said: share, looks: fc.array(share, { maxLength: 6 }) }), { minLength: 3, maxLength: 8 }),
  writers: fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 12 }),
  restart: fc.nat(8),
  isTask: fc.boolean(),
});

/** Tokens of a request, by its JSON alone. */
function weigh({ instructions, tools, messages }: ModelRequest): number {
  return Math.ceil((instructions.length + JSON.stringify([tools, messages]).length) / 4);
}

/** Plays a conversation. Returns its faults and its log. */
async function played({ window, turns, writers, restart, isTask, left = [] }: Plan) {
  const problems: string[] = [];
  const started = new Map<string, number>();
  let requested = 0;
  let looks: number[] = [];
  const look = defineTool({
    name: "look",
    description: "Looks.",
    input: { type: "object" },
    effects: "external",
    execute(input, { key }) {
      started.set(key, (started.get(key) ?? 0) + 1);
      return `${key} `.padEnd((input as { size: number }).size, "seen ");
    },
  });
  const size = (percent: number) => Math.floor(((window * 4) / 100) * percent);
  const model = scriptedModel((request) => {
    // If a provider counts more than the JSON has, a request of the whole window does not fit.
    if (weigh(request) > window) problems.push(`A request of ${weigh(request)} tokens for a window of ${window}.`);
    const results = new Set<string>();
    for (const message of request.messages) {
      if (message.role !== "assistant") continue;
      const asked = message.parts.flatMap((part) => (part.type === "call" ? [part.id] : []));
      if (asked.join() !== message.results.map(({ call }) => call).join())
        problems.push(`Results of ${asked} are not whole.`);
      for (const id of asked) if (results.has(id)) problems.push(`Call ${id} is twice in a request.`);
      for (const id of asked) results.add(id);
    }
    const last = JSON.stringify(request.messages.at(-1));
    const spent = spend({ input: weigh(request), output: 5 });
    if (/Sum up the conversation above|Your summary is too long/.test(last)) {
      const name = writers[requested++ % writers.length] ?? "good";
      return [spent, ...(WRITERS[name]?.(0) ?? [])];
    }
    const next = looks.shift();
    if (next !== undefined) return [spent, call("look", { size: size(next) })];
    return isTask ? [spent, finishTask("done")] : [spent, text("Done.")];
  });
  const agent = new Agent({
    model,
    tools: [look],
    compaction: { contextSize: window },
    mode: isTask ? "task" : "chat",
    retry: { delay: 1, attempts: 2, idle: 30 },
  });
  const events = structuredClone([...left]);
  let session = await Session.open(storeOf(events), "x");
  if (left.length > 0) await goOn(agent, session);
  for (const [index, turn] of turns.entries()) {
    looks = [...turn.looks];
    const said = `order ${index} `.padEnd(size(turn.said), "please ");
    try {
      const { reason } = await agent.send(said, { session });
      if (reason !== "answered" && reason !== "finished") problems.push(`Turn ${index} ended as ${reason}.`);
    } catch (error) {
      problems.push(`Turn ${index} failed: ${String(error).slice(0, 200)}`);
    }
    if (index === restart) {
      await session.close();
      session = await Session.open(storeOf(events), "x");
    }
  }
  for (const [key, times] of started) if (times > 1) problems.push(`Call ${key} ran ${times} times.`);
  for (const index of turns.keys())
    if (![...session.state.messages.values()].some((message) => JSON.stringify(message).includes(`order ${index} `)))
      problems.push(`Message ${index} left the tree.`);
  problems.push(...checkConversation(session.state, events));
  await session.close();
  return { problems, events };
}

const problemsOf = async (plan: Plan) => (await played(plan)).problems;

/** Resumes the open work of a killed process, if any. */
async function goOn(agent: Agent, session: Session): Promise<void> {
  await collect(agent.chat(resume(), { session })).catch((error: unknown) => {
    if (!(error instanceof DirectiveError)) throw error;
  });
}

test("F88, F90, F91, F92: whatever summary models do, no turn ends, no call runs twice, and each request fits", async () => {
  const numRuns = process.env.BANYAN_LONG === "1" ? 1_000 : 40;
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => {
      expect(await problemsOf(plan)).toEqual([]);
    }),
    { numRuns },
  );
});

test.each(["good", "empty", "too long", "429"])(
  "F90, F91: killed at each event around a summary (%s) or a shortening, a conversation goes on, and no call runs twice",
  async (name) => {
    const turns = [5, 12, 9, 3].map((said) => ({ said, looks: [9, 8, 7] }));
    const plan = { window: 4_000, turns, writers: [name], restart: 9, isTask: false };
    const { problems, events } = await played(plan);
    expect(problems).toEqual([]);
    const places = events.flatMap((event, index) => (isOfSummary(event) ? [index] : []));
    expect(places.length).toBeGreaterThan(1);
    const cuts = new Set(places.flatMap((place) => [place - 1, place, place + 1, place + 2]));
    for (const cut of cuts) {
      const left = events.slice(0, cut);
      const on = await played({ ...plan, turns: turns.slice(-1), left });
      expect(on.problems, `behind event ${cut}`).toEqual([]);
      const starts = on.events.flatMap((event) => (event.type === "call.executing" ? [event.key] : []));
      expect(starts.length).toBe(new Set(starts).size);
    }
  },
  60_000,
);

function isOfSummary(event: Event): boolean {
  return event.type === "message.added" && event.role === "summary";
}

test.each(NAMES)("F90, F91: a summary model that always is `%s` ends no turn", async (name) => {
  const turns = [5, 12, 9, 14, 3].map((said) => ({ said, looks: [9, 8, 7] }));
  for (const isTask of [false, true])
    expect(await problemsOf({ window: 8_000, turns, writers: [name], restart: 2, isTask })).toEqual([]);
});
