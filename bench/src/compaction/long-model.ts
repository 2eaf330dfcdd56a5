import { type ChatCompletionRequest, type FixtureResponse, LLMock } from "@copilotkit/aimock";
import type { Item, State } from "./items.ts";
import { statesIn } from "./judge.ts";
import {
  brokenCalls,
  cacheText,
  callsIn,
  commonPrefix,
  conversationIn,
  headTokens,
  type Message,
  splitUnanswered,
  textOf,
  tokensOf,
  totalOf,
} from "./request.ts";
import type { Act, Beat, Progress, Turn } from "./script.ts";
import type { Summariser } from "./summarisers.ts";

/** A call of a program's own tool. */
export interface ToolUse {
  readonly name: string;
  readonly input: object;
}

/** Returns the tool call with which a program does an act; undefined if it has no tool for the act. */
export type Hands = (act: Act) => ToolUse | undefined;

export interface LongModelOptions {
  /** Tokens. A longer request is refused like at OpenAI. */
  readonly window: number;
  readonly hands: Hands;
  readonly summarise: Summariser;
  /** Detects a request for a summary by its last message. */
  asksForSummary(text: string): boolean;
}

/** The first request after a summary, with the state at that moment. */
export interface Reset {
  readonly request: ChatCompletionRequest;
  /** The model's summaries so far, newest first. */
  readonly summaries: readonly string[];
  readonly states: ReadonlyMap<Item, State | undefined>;
  /** The user's messages so far. */
  readonly said: readonly string[];
  /** Tokens without the messages that are not answered yet. */
  readonly tokens: number;
  readonly head: number;
}

/** A request for a summary. */
export interface SummaryRequest {
  readonly tokens: number;
  /** The share of the request with which an earlier request began. */
  readonly cached: number;
}

/** The number of earlier requests whose beginning may be cached. */
const REMEMBERED = 4;

/**
 * A model of a provider that supports every program's format. The model follows a script whatever the prompt contains, and
 * enforces the window. The prompt only matters for summaries.
 */
export class LongModel implements AsyncDisposable {
  readonly url: string;
  readonly #mock: LLMock;
  readonly #options: LongModelOptions;
  readonly #states = new Map<Item, State | undefined>();
  readonly #marks = new Map<Item, string>();
  readonly #said: string[] = [];
  readonly #summaries: string[] = [];
  readonly #earlier: string[] = [];
  readonly resets: Reset[] = [];
  readonly summaryRequests: SummaryRequest[] = [];
  /** Sentences about requests that no provider accepts. */
  readonly problems: string[] = [];
  /** The number of requests that were too long. */
  refused = 0;
  /** Tokens that the model read for the first time, until the last summary. */
  readUntilSummary = 0;
  #read = 0;
  #turn: Turn | undefined;
  #acts = 0;
  #calls = 0;
  #ended = false;
  #fill = 0;
  #last: readonly Message[] = [];

  private constructor(mock: LLMock, url: string, options: LongModelOptions) {
    this.#mock = mock;
    this.url = url;
    this.#options = options;
  }

  static async start(options: LongModelOptions): Promise<LongModel> {
    const mock = new LLMock({ port: 0, logLevel: "silent", journalMaxEntries: 1 });
    let model: LongModel | undefined;
    mock.on({ predicate: () => true }, (request) => (model as LongModel).#answer(request), { chunkSize: 4_000 });
    model = new LongModel(mock, await mock.start(), options);
    return model;
  }

  /** Starts a turn with the user's message. */
  begin(turn: Turn): void {
    this.#turn = turn;
    this.#acts = 0;
    this.#ended = false;
    this.#said.push(turn.says);
    for (const item of turn.tells) this.#bring(item, undefined, item.sentence);
  }

  /** True after the last answer of the turn. */
  get ended(): boolean {
    return this.#ended;
  }

  get calls(): number {
    return this.#calls;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#mock.stop();
  }

  #bring(item: Item, state: State | undefined, mark: string): void {
    this.#states.set(item, state);
    this.#marks.set(item, mark);
  }

  #answer(request: ChatCompletionRequest): FixtureResponse {
    const { window } = this.#options;
    const messages = conversationIn(request);
    const head = headTokens(request);
    const tokens = head + totalOf(messages);
    this.problems.push(...brokenCalls(messages));
    if (tokens > window) {
      this.refused++;
      const message = `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`;
      return { error: { message, type: "invalid_request_error", code: "context_length_exceeded" }, status: 400 };
    }
    const last = messages.at(-1);
    const response =
      last?.role === "user" && this.#options.asksForSummary(textOf(last))
        ? this.#summary(request, messages, tokens)
        : request.tools === undefined || request.tools.length === 0
          ? { content: "Notes." }
          : this.#step(request, messages, head);
    this.#earlier.unshift(cacheText(request));
    this.#earlier.length = Math.min(this.#earlier.length, REMEMBERED);
    const output = "content" in response && typeof response.content === "string" ? tokensOf(response.content) + 30 : 30;
    // Each format has other names for these counts.
    const usage = { prompt_tokens: tokens, completion_tokens: output, input_tokens: tokens, output_tokens: output };
    return "error" in response ? response : ({ ...response, usage } as FixtureResponse);
  }

  #summary(request: ChatCompletionRequest, shown: readonly Message[], tokens: number): FixtureResponse {
    const text = cacheText(request);
    const shared = Math.max(0, ...this.#earlier.map((earlier) => commonPrefix(text, earlier)));
    this.summaryRequests.push({ tokens, cached: shared / text.length });
    const said = shown
      .map((message) => textOf(message) + (message.tool_calls ?? []).map((call) => call.function.arguments).join("\n"))
      .join("\n\n");
    const known = [...this.#states].flatMap(([item, state]) => {
      if (!said.includes(item.word)) return [];
      if (state === undefined) return [{ item, state }];
      // The model does not know a state that the prompt lacks, and reports the earlier state.
      const isKnown = said.includes(this.#marks.get(item) as string) || statesIn(item, said).includes(state);
      return [{ item, state: isKnown ? state : item.states?.[0] }];
    });
    const response = this.#options.summarise(known);
    if ("content" in response && typeof response.content === "string") this.#summaries.unshift(response.content);
    return response;
  }

  #step(request: ChatCompletionRequest, messages: readonly Message[], head: number): FixtureResponse {
    const { answered, unanswered } = splitUnanswered(messages);
    const now = callsIn(messages);
    // A summary has replaced a call that is missing now.
    if ([...callsIn(this.#last)].some((id) => !now.has(id))) {
      this.readUntilSummary = this.#read;
      this.resets.push({
        request,
        summaries: [...this.#summaries],
        states: new Map(this.#states),
        said: [...this.#said],
        tokens: head + totalOf(answered),
        head,
      });
    }
    this.#last = messages;
    this.#fill = (head + totalOf(messages)) / this.#options.window;
    this.#read += totalOf(unanswered) + totalOf(answered.slice(-1));
    const next = this.#nextUse();
    if (next) {
      const { use, words } = next;
      const toolCalls = [{ id: `call_${++this.#calls}`, name: use.name, arguments: JSON.stringify(use.input) }];
      return words === undefined ? { toolCalls } : { content: words, toolCalls };
    }
    this.#ended = true;
    return { content: "Done." };
  }

  /** Returns the next act of the turn for which the program has a tool. */
  #nextUse(): { readonly use: ToolUse; readonly words: string | undefined } | undefined {
    for (;;) {
      const beat = this.#turn?.next(this.progress);
      if (!beat) return undefined;
      this.#acts++;
      const use = this.#options.hands(beat.act);
      if (!use) continue;
      this.#tell(beat);
      return { use, words: beat.words };
    }
  }

  get progress(): Progress {
    return { summaries: this.resets.length, fill: this.#fill, acts: this.#acts };
  }

  #tell({ brings = [] }: Beat): void {
    for (const { item, state, mark } of brings) this.#bring(item, state, mark);
  }
}
