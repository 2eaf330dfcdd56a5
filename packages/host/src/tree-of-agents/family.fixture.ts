import type { Usage } from "@banyan/core";
import { addUsage, noUsage, type Price } from "@banyan/core/conversation";
import { type ChatCompletionRequest, type FixtureOpts, type FixtureResponse, LLMock } from "@copilotkit/aimock";

/** The message to the root agent. */
export const ROOT = "Go";
/** The root launches these agents. Each of them launches four more: `a1` to `d4`. */
export const CHILDREN = ["a", "b", "c", "d"] as const;
export const GRANDCHILDREN: readonly string[] = CHILDREN.flatMap(grandchildrenOf);

/** Grandchildren that do not simply finish. */
export const STOPPED = "a3";
export const FAILING = "b2";
export const STALLING = "c1";
export const KILLED = "d4";

/** Models that the mock plays, each with its own wire format, and their prices. */
export const MODELS: readonly { readonly name: string; readonly price: Price }[] = [
  { name: "openai-chat/gpt-5", price: { input: 1.25, output: 10 } },
  { name: "openai/gpt-5", price: { input: 1.25, output: 10 } },
  { name: "anthropic/claude-sonnet-4-5", price: { input: 3, output: 15 } },
];

/** One model call, by the mock's journal. */
export interface Told {
  /** The agent of the call, and the number of its calls before. */
  readonly agent: string;
  readonly round: number;
  /** The tool results in the request, in order. */
  readonly results: readonly string[];
  /** The usage of the mock's whole reply, also if the client stopped reading. */
  readonly usage: Usage;
}

/** A mock model over HTTP for a tree of 1 + 4 + 16 agents, with a journal of requests. */
export interface FamilyModel extends AsyncDisposable {
  /** The environment for a program that uses any of `MODELS`. */
  readonly env: Readonly<Record<string, string>>;
  /** In the order of the requests. */
  journal(): Told[];
}

/** A reply to one agent in one round. */
interface Reply {
  readonly agent: string;
  readonly round: number;
  readonly response: FixtureResponse;
  readonly pace?: FixtureOpts;
}

/**
 * Each of the sixteen grandchildren reads a file and finishes; each of the four children finishes after its own. With
 * `fates`, four grandchildren are stopped, fail, stall or are killed. `usage(index)`: the usage of a reply; the last
 * index is for agents at a limit.
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
    // A reply with a pace is given once; a repeated request gets the next reply.
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

/** The sum of the usage of model calls. */
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

/** Milliseconds between two fragments of an endless reply, and of the mock's silence. */
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
        // After the kill, the partial answer counts as a round of its own.
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

/** The first message of an agent is its task, and the first line of a task is the agent's name. */
function agentIn(messages: Messages): string {
  const task = messages.find(({ role }) => role === "user")?.content;
  return String(task).split("\n", 1)[0] ?? "";
}

function roundIn(messages: Messages): number {
  // For some formats the mock turns one answer into several messages.
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
