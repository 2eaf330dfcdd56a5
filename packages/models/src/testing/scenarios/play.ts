import {
  Agent,
  type AgentOptions,
  type ConversationState,
  Session,
  type Turn,
  TurnError,
  type Usage,
} from "@banyan/core";
import { addUsage, noUsage } from "@banyan/core/conversation";
import {
  type ChatCompletionRequest,
  type FixtureOpts,
  type FixtureResponse,
  type JournalEntry,
  LLMock,
} from "@copilotkit/aimock";
import { type Format, openAt } from "./formats.ts";
import { relayTo, type Sent } from "./relay.ts";
import { type Shape, shapeOf } from "./shape.ts";

/** A scripted reply of the model. */
export interface Reply {
  readonly response: FixtureResponse;
  /** UTF-16 units of a fragment. */
  readonly fragment?: number;
  /** If several agents ask: the agent whose conversation begins with this text, after this number of answers. */
  readonly to?: { readonly task: string; readonly round: number };
  /** Input tokens that the mock reports, if the scenario needs them. */
  readonly input?: number;
  /** After this number of fragments the connection breaks or the model is silent. */
  readonly stops?: {
    readonly how: "cut" | "silent";
    readonly in: keyof Format["before"];
    readonly after: number;
  };
}

/** A conversation that runs the same for every format. */
export interface Scenario {
  /** User messages by turn. `interruptAt`: interrupt when the answer's text ends with this. */
  readonly says: readonly (string | { readonly text: string; readonly interruptAt: string })[];
  /** The model's replies in order, per asking agent. */
  readonly replies: readonly Reply[];
  readonly agent?: Omit<Partial<AgentOptions>, "model">;
  /** The scenario needs calls that stream in pieces. */
  readonly breaksCalls?: true;
  /** Changes each piece of an answer on its way. */
  readonly edit?: (piece: string) => string;
}

/** The outcome of a scenario with a format. */
export interface Played {
  readonly format: Format;
  readonly state: ConversationState;
  readonly shape: Shape;
  readonly turns: readonly Turn[];
  /** The requests on the wire. */
  readonly requests: readonly Sent[];
  /** The answers to each request on the wire, as far as they arrived. */
  readonly answers: readonly Buffer[];
  /** The mock's journal: the same requests, as the mock parsed them. */
  readonly journal: readonly ChatCompletionRequest[];
  /** The usage that the mock reported, over all complete replies. */
  readonly told: Usage;
  /** The same from the mock's journal, over all successful requests. */
  readonly journalled: Usage;
}

/** Milliseconds until the mock breaks a connection, long after its fragments have arrived. */
const CUT_AFTER = 100;
/** Milliseconds of the mock's silence: longer than any test. */
const SILENCE = 60_000;

/**
 * Plays a scenario over HTTP against a new mock. `open` returns the session for user message `index`; default: one session
 * in memory.
 */
export async function play(
  format: Format,
  scenario: Scenario,
  open: (index: number) => Promise<Session> = inOne(Session.inMemory()),
): Promise<Played> {
  const mock = new LLMock({ port: 0, logLevel: "silent", strict: true });
  const asking = new Map<string, (request: ChatCompletionRequest) => boolean>();
  const before = new Map<string, number>();
  scenario.replies.forEach((reply, index) => {
    const { response, to } = reply;
    const answer = "error" in response ? response : { ...response, usage: tokens(reply, index) };
    const who = to ? `${to.task} ${to.round}` : "";
    const sequenceIndex = before.get(who) ?? 0;
    before.set(who, sequenceIndex + 1);
    // The mock counts matches per function, so share the function per agent.
    if (to && !asking.has(who)) asking.set(who, isAsking(to));
    const predicate = asking.get(who);
    const match = predicate ? { predicate, sequenceIndex } : { sequenceIndex };
    mock.addFixture({ match, response: answer, ...pace(format, reply) });
  });
  await mock.start();
  try {
    await using relay = await relayTo(mock.url, scenario.edit);
    const agent = new Agent({ ...scenario.agent, model: await openAt(format, relay.address) });
    const turns: Turn[] = [];
    let session = Session.inMemory();
    for (const [index, said] of scenario.says.entries()) {
      session = await open(index);
      turns.push(await takeTurn(agent, session, said));
    }
    await session.close();
    return {
      format,
      state: session.state,
      shape: shapeOf(session.state),
      turns,
      requests: relay.requests,
      answers: relay.answers,
      journal: mock.getRequests().map(({ body }) => body as ChatCompletionRequest),
      told: toldBy(scenario.replies),
      journalled: mock.getRequests().reduce((sum, { response }) => addUsage(sum, usageIn(response)), noUsage),
    };
  } finally {
    await mock.stop();
  }
}

function inOne(session: Session): () => Promise<Session> {
  return async () => session;
}

async function takeTurn(agent: Agent, session: Session, said: Scenario["says"][number]): Promise<Turn> {
  const text = typeof said === "string" ? said : said.text;
  const interrupted = typeof said === "string" ? undefined : interruptAt(session, said.interruptAt);
  const turn = await agent.send(text, { session }).catch((error: unknown) => {
    if (error instanceof TurnError) return error.turn;
    throw error;
  });
  await interrupted;
  return turn;
}

async function interruptAt(session: Session, end: string): Promise<void> {
  let text = "";
  for await (const item of session.feed()) {
    if (item.type === "text.delta") text += item.text;
    if (text.endsWith(end)) session.interrupt();
    if (item.type === "run.ended") return;
  }
}

function pace({ before }: Format, { fragment = 20, stops }: Omit<Reply, "response">): FixtureOpts {
  if (!stops) return { chunkSize: fragment };
  const events = before[stops.in] + stops.after;
  const interChunkDelaysMs = [...Array<number>(events - 1).fill(0), SILENCE];
  return {
    chunkSize: fragment,
    recordedTimings: { ttftMs: 0, interChunkDelaysMs, totalDurationMs: SILENCE },
    ...(stops.how === "cut" ? { disconnectAfterMs: CUT_AFTER } : {}),
  };
}

/** Differs for every reply, so that a wrong count shows. The mock reports no other figures. */
function tokens({ input }: Reply, index: number): { prompt_tokens: number; completion_tokens: number } {
  return { prompt_tokens: input ?? 100 * (index + 1), completion_tokens: 7 * (index + 1) };
}

function isAsking({ task, round }: NonNullable<Reply["to"]>): (request: ChatCompletionRequest) => boolean {
  return ({ messages }) => {
    const first = messages.find(({ role }) => role === "user")?.content;
    // For some formats the mock turns one answer into several messages.
    const answers = messages.filter((message, at) => isAnswer(message) && !isAnswer(messages[at - 1]));
    return String(first).startsWith(task) && answers.length === round;
  };
}

function isAnswer(message: ChatCompletionRequest["messages"][number] | undefined): boolean {
  return message?.role === "assistant";
}

function usageIn({ status, fixture }: JournalEntry["response"]): Usage {
  const response = fixture?.response;
  const told =
    status === 200 && response && "usage" in response ? (response.usage as ReturnType<typeof tokens>) : undefined;
  return told ? { ...noUsage, input: told.prompt_tokens, output: told.completion_tokens } : noUsage;
}

function toldBy(replies: readonly Reply[]): Usage {
  return replies.reduce((sum, reply, index) => {
    if (reply.stops || "error" in reply.response) return sum;
    const { prompt_tokens, completion_tokens } = tokens(reply, index);
    return addUsage(sum, { ...noUsage, input: prompt_tokens, output: completion_tokens });
  }, noUsage);
}
