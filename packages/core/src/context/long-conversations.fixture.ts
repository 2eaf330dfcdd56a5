import { Agent, type AgentOptions } from "../agent/agent.ts";
import { TurnError } from "../agent/turn-error.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { ModelDriver, ModelRequest, PromptMessage } from "../ports/model.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import {
  type Beat,
  call,
  cut,
  end,
  fail,
  type Scene,
  scriptedModel,
  spend,
  stall,
  text,
} from "../testing/scripted-model.ts";

// Seeded long conversations with models that enforce their windows, and the invariants of all of them.

/** Factors between a model's count and the true count. */
const COUNTS = { exact: 1, half: 0.5, double: 2, one: 0 } as const;

/** Responses of a model to a request for a summary. */
const SUMMARIES: Readonly<Record<string, (tokens: number) => readonly Beat[]>> = {
  good: () => [
    text("All that matters: the work continues with the next part, and nothing else has to be known of it."),
  ],
  short: () => [text("The work continues.")],
  empty: () => [text("")],
  refused: () => [end("filtered")],
  limited: () => [fail("rate-limit", { status: 429, retryAfter: 1 })],
  overloaded: () => [fail("overloaded", { status: 503 })],
  silent: () => [stall()],
  "broken off": () => [text("All that"), cut()],
  calling: () => [call("work", { id: "in a summary", size: 10 })],
  "too long": (window) => [text(words(window))],
  "cut by length": () => [text("All that matters is"), end("length")],
};

interface LongTurn {
  /** Tokens of the user message. */
  readonly says: number;
  /** Tokens of the result of each step. */
  readonly results: readonly number[];
  /** New window of the model from this turn on. Absent: unchanged. */
  readonly window?: number;
}

export interface LongConversation {
  readonly seed: number;
  readonly window: number;
  /** True if the program knows the window. */
  readonly known: boolean;
  readonly counts: keyof typeof COUNTS;
  readonly summary: keyof typeof SUMMARIES;
  /** True if a refusal names the window. */
  readonly tells: boolean;
  readonly turns: readonly LongTurn[];
}

/** Returns the same conversation for the same seed. */
export function longConversation(seed: number): LongConversation {
  const random = randomFrom(seed);
  const between = (least: number, most: number) => Math.round(least + random() * (most - least));
  const oneOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const isSo = (chance: number) => random() < chance;
  let window = Math.round(4_000 * 50 ** random());
  const began = window;
  const turns = Array.from({ length: between(4, 10) }, (_, at): LongTurn => {
    const isSmaller = at > 1 && window > 8_000 && isSo(0.15);
    if (isSmaller) window = Math.max(4_000, Math.round(window / between(2, 4)));
    const says = isSo(0.08) ? window * 1.2 : isSo(0.15) ? window * 0.4 * random() : 20;
    const results = Array.from({ length: between(1, 12) }, () =>
      Math.round(window * (isSo(0.06) ? 1.5 * random() : 0.12 * random())),
    );
    return { says: Math.ceil(says), results, ...(isSmaller && { window }) };
  });
  return {
    seed,
    window: began,
    known: isSo(0.75),
    counts: isSo(0.5) ? "exact" : oneOf(["half", "double", "one"]),
    summary: isSo(0.3) ? "good" : oneOf(Object.keys(SUMMARIES)),
    tells: isSo(0.7),
    turns,
  };
}

const INSTRUCTIONS = "You read the parts of a long report.";

/** Plays a conversation. Returns each broken invariant as a sentence. */
export async function faultsOf(conversation: LongConversation): Promise<string[]> {
  const faults: string[] = [];
  const ran = new Map<string, number>();
  const work = defineTool({
    name: "work",
    description: "Reads a part.",
    input: { type: "object" },
    effects: "none",
    execute(input) {
      const { id, size } = input as { readonly id: string; readonly size: number };
      ran.set(id, (ran.get(id) ?? 0) + 1);
      return `Part ${id}. ${words(size)}`;
    },
  });
  let turn: LongTurn | undefined;
  let at = 0;
  let id = 0;
  /** The smallest refused size, by window. */
  const refused = new Map<number, number>();
  const driverOf = (window: number): ModelDriver => {
    const script = (request: ModelRequest): Scene => {
      const tokens = tokensIn(request);
      const told = Math.max(1, Math.round(tokens * COUNTS[conversation.counts]));
      if (tokens > window) {
        const before = refused.get(window) ?? Number.POSITIVE_INFINITY;
        if (tokens >= before) faults.push(`turn ${at}: ${tokens} tokens were sent, and ${before} had been refused`);
        refused.set(window, Math.min(before, tokens));
        const message = conversation.tells ? `This model's maximum context length is ${window} tokens.` : "Too long.";
        return [fail("context-overflow", { message, status: 400 })];
      }
      const isSummary = asksForSummary(request);
      const beats = isSummary ? (SUMMARIES[conversation.summary]?.(window) ?? []) : nextBeats();
      return [spend({ input: told, output: 20 }), ...beats];
    };
    const { family, stream } = scriptedModel(script);
    const driver = { id: `long/${window}`, family, stream };
    return conversation.known ? { ...driver, contextSize: window } : driver;
  };
  let step = 0;
  const nextBeats = (): readonly Beat[] => {
    const size = turn?.results[step++];
    return size === undefined ? [text("Read.")] : [call("work", { id: String(++id), size })];
  };

  const session = Session.inMemory();
  const options: Omit<AgentOptions, "model"> = {
    tools: [work],
    instructions: INSTRUCTIONS,
    limits: { steps: 1_000 },
    retry: { attempts: 2, delay: 1, maxDelay: 1, idle: 40 },
  };
  let window = conversation.window;
  let agent = new Agent({ ...options, model: driverOf(window) });
  for (turn of conversation.turns) {
    if (turn.window !== undefined) {
      window = turn.window;
      agent = agent.with({ model: driverOf(window) });
    }
    step = 0;
    const says = `Message ${++at}. ${words(turn.says)}`;
    const own = estimate(says) + HEAD;
    try {
      const { reason } = await agent.send(says, { session });
      if (reason !== "answered") faults.push(`turn ${at} ended with ${reason}`);
    } catch (error) {
      if (!(error instanceof TurnError)) throw error;
      // A message that does not fit by itself may be refused.
      if (own <= window) faults.push(`turn ${at} of ${own} tokens failed in a window of ${window}: ${error.message}`);
    }
  }
  for (const [name, times] of ran) if (times > 1) faults.push(`call ${name} ran ${times} times`);
  faults.push(...checkConversation(session.state).map(String));
  await session.close();
  return faults;
}

/** Tokens of the instructions, the tool and the envelope of a message, with a margin. */
const HEAD = 100;

function asksForSummary({ messages }: ModelRequest): boolean {
  const last = messages.at(-1);
  return last?.role === "user" && /^Sum up the conversation|^Your summary is too long/.test(textIn(last));
}

/** Counts as the models of these tests do: a quarter of the characters. */
function tokensIn({ instructions = "", tools = [], messages }: ModelRequest): number {
  const results = (message: PromptMessage) =>
    message.role === "assistant" ? message.results.map(({ output }) => output).join("") : "";
  return (
    estimate(instructions + JSON.stringify(tools)) +
    messages.reduce((sum, message) => sum + estimate(textIn(message) + results(message)) + 4, 0)
  );
}

function textIn({ parts }: PromptMessage): string {
  return parts.map((part) => ("text" in part ? part.text : "input" in part ? JSON.stringify(part.input) : "")).join("");
}

function estimate(text: string): number {
  return Math.ceil(text.length / 4);
}

/** A text of this many tokens. */
function words(tokens: number): string {
  return "the big red fox ran far and saw one old dog ".repeat(Math.ceil(tokens / 11)).slice(0, tokens * 4);
}

/** Random numbers from 0 to 1 for a seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
