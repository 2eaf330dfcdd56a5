import type { Usage } from "@banyan/core";
import { addUsage, noUsage, type Price } from "@banyan/core/conversation";
import { type ChatCompletionRequest, type FixtureOpts, type FixtureResponse, LLMock } from "@copilotkit/aimock";

/** What is said to the agent that launches the others. */
export const ROOT = "Go";
/** It launches these, and each of them four more: `a1` to `d4`. */
export const CHILDREN = ["a", "b", "c", "d"] as const;
export const GRANDCHILDREN: readonly string[] = CHILDREN.flatMap(grandchildrenOf);

/** Of the sixteen, those with a fate of their own. */
export const STOPPED = "a3";
export const FAILING = "b2";
export const STALLING = "c1";
export const KILLED = "d4";

/** Models that the mock can be, each with a wire format of its own, and what they cost. */
export const MODELS: readonly { readonly name: string; readonly price: Price }[] = [
  { name: "openai-chat/gpt-5", price: { input: 1.25, output: 10 } },
  { name: "openai/gpt-5", price: { input: 1.25, output: 10 } },
  { name: "anthropic/claude-sonnet-4-5", price: { input: 3, output: 15 } },
];

/** One model call, as the mock's journal tells it. */
export interface Told {
  /** Whose it is, and which of theirs. */
  readonly agent: string;
  readonly round: number;
  /** The results of calls that it shows to the model, in order. */
  readonly results: readonly string[];
  /** What the mock's reply costs, heard to its end or not. */
  readonly usage: Usage;
}

/** A model for a tree of 1 + 4 + 16 agents, over HTTP, with a journal of what it was asked. */
export interface FamilyModel extends AsyncDisposable {
  /** For a program that is to ask it, as any of `MODELS`. */
  readonly env: Readonly<Record<string, string>>;
  /** In the order in which the requests came. */
  journal(): Told[];
}

/** Who is asked, in which round, and what the answer is. */
interface Reply {
  readonly agent: string;
  readonly round: number;
  readonly response: FixtureResponse;
  readonly pace?: FixtureOpts;
}

/**
 * Each of the sixteen reads a file and finishes its task; each of the four finishes when theirs have. With `fates`, the
 * four of them that have one meet it. `usage`: what the reply of this number costs; the last one goes to
 * whoever is at a limit.
 */
export async function familyModel(options: {
  readonly fates: boolean;
  usage(index: number): { readonly input: number; readonly output: number };
}): Promise<FamilyModel> {
  const mock = new LLMock({ port: 0, logLevel: "silent", strict: true });
  const costing = (index: number) => {
    const { input, output } = options.usage(index);
    return { usage: { prompt_tokens: input, completion_tokens: output } };
  };
  const replies = repliesOf(options.fates);
  replies.forEach(({ agent, round, response, pace }, index) => {
    // A reply with a pace of its own is given once; whoever asks again gets the next one.
    const match = { predicate: asking(agent, round), ...(pace ? { sequenceIndex: 0 } : {}) };
    const answer = "error" in response ? response : { ...response, ...costing(index) };
    mock.addFixture({ match, response: answer, ...pace });
  });
  const further = { response: { content: "That is all I have.", ...costing(replies.length) } };
  mock.addFixture({ match: { predicate: ({ messages }) => isAtLimit(messages) }, ...further });
  await mock.start();
  return {
    env: {
      OPENAI_BASE_URL: `${mock.url}/v1`,
      OPENAI_API_KEY: "test-key",
      ANTHROPIC_BASE_URL: mock.url,
      ANTHROPIC_API_KEY: "test-key",
    },
    journal: () =>
      mock.getRequests().map(({ body, response: { fixture } }) => {
        const { messages } = body as ChatCompletionRequest;
        const results = messages.filter(({ role }) => role === "tool").map(({ content }) => String(content));
        return { agent: agentIn(messages), round: roundIn(messages), results, usage: usageIn(fixture?.response) };
      }),
    [Symbol.asyncDispose]: () => mock.stop().then(() => {}),
  };
}

/** What model calls cost together. */
export function sumOf(told: readonly Told[]): Usage {
  return told.reduce((sum, { usage }) => addUsage(sum, usage), noUsage);
}

/** The id of the call that launches an agent. */
export function launchOf(agent: string): string {
  return `launch-${agent}`;
}

export function grandchildrenOf(child: string): string[] {
  return [1, 2, 3, 4].map((number) => `${child}${number}`);
}

type Messages = ChatCompletionRequest["messages"];

function repliesOf(fates: boolean): Reply[] {
  const launching = (names: readonly string[]) => ({
    toolCalls: names.map((name) => calling(launchOf(name), "launch_agent", { task: name, expected_output: "a word" })),
  });
  const finishing = (name: string) => ({
    toolCalls: [calling(`end-${name}`, "finish_task", { result: `${name}: done` })],
  });
  const all = [
    { agent: ROOT, round: 0, response: launching(CHILDREN) },
    ...CHILDREN.map((child) => ({ agent: child, round: 0, response: launching(grandchildrenOf(child)) })),
    ...GRANDCHILDREN.flatMap((agent) => [
      { agent, round: 0, response: { toolCalls: [calling(`read-${agent}`, "read", { path: "notes.txt" })] } },
      { agent, round: 1, response: finishing(agent) },
    ]),
    ...CHILDREN.map((child) => ({ agent: child, round: 1, response: finishing(child) })),
    { agent: ROOT, round: 1, response: { content: "All told." } },
  ];
  return fates ? all.flatMap(fateOf) : all;
}

/** Milliseconds between two fragments of what never ends, and for which the mock is silent. */
const PACE = 20;
const SILENCE = 60_000;

function fateOf(reply: Reply): Reply[] {
  const { agent, round } = reply;
  const unending = { content: "One thing after the other. ".repeat(2_000) };
  switch (`${agent} ${round}`) {
    case `${STOPPED} 1`:
      return [{ agent, round, response: unending, pace: { latency: PACE, chunkSize: 10 } }];
    case `${KILLED} 1`:
      return [
        { agent, round, response: unending, pace: { latency: PACE, chunkSize: 10 } },
        // What it had said is an answer of its own when it is asked again.
        { ...reply, round: round + 1 },
      ];
    case `${FAILING} 1`:
      return [{ agent, round, response: { error: { message: "Pay first" }, status: 402 } }];
    case `${STALLING} 1`: {
      const interChunkDelaysMs = [0, SILENCE];
      const recordedTimings = { ttftMs: 0, interChunkDelaysMs, totalDurationMs: SILENCE };
      return [{ agent, round, response: { content: "Let me think." }, pace: { chunkSize: 4, recordedTimings } }, reply];
    }
    default:
      return [reply];
  }
}

function calling(id: string, name: string, input: object) {
  return { id, name, arguments: JSON.stringify(input) };
}

function asking(agent: string, round: number): (request: ChatCompletionRequest) => boolean {
  return ({ messages }) => !isAtLimit(messages) && agentIn(messages) === agent && roundIn(messages) === round;
}

/** An agent's task is its first message; the first line of it is its name. */
function agentIn(messages: Messages): string {
  const task = messages.find(({ role }) => role === "user")?.content;
  return String(task).split("\n", 1)[0] ?? "";
}

function roundIn(messages: Messages): number {
  // Of some formats the mock makes several messages of one answer.
  const isAnswer = (message: Messages[number] | undefined) => message?.role === "assistant";
  return messages.filter((message, at) => isAnswer(message) && !isAnswer(messages[at - 1])).length;
}

function isAtLimit(messages: Messages): boolean {
  const last = messages.at(-1);
  return last?.role === "user" && String(last.content).startsWith("This turn has reached");
}

function usageIn(response: unknown): Usage {
  const { usage } = (response ?? {}) as { usage?: { prompt_tokens: number; completion_tokens: number } };
  return usage ? { ...noUsage, input: usage.prompt_tokens, output: usage.completion_tokens } : noUsage;
}
