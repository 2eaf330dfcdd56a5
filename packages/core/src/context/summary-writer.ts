import { cutTo } from "../conversation/shown/visible-text.ts";
import { addCost, addUsage, type Cost, costOf, noUsage, totalTokens, type Usage } from "../conversation/usage.ts";
import { askModel, type ModelResponse } from "../model/ask-model.ts";
import { learnWindow, windowFromError } from "../model/context-window.ts";
import { type ModelDriver, ModelError, type ModelRequest, type PromptMessage } from "../ports/model.ts";
import { Patience, waitForRate, waitSilently, waitToRetry } from "../run/patience.ts";
import { type FallbackModel, notify, type RunWithModel, type TurnRun } from "../run/run.ts";
import { contextRoom, countTokens, summaryBound } from "./behind-summary.ts";
import { type CountTexts, messageTexts, takeSummaryPiece, userText } from "./summary-pieces.ts";
import { estimate } from "./tokens.ts";

/** Tokens for reasoning in addition to the summary's text: many models think before they write. */
const REASONING = 16_000;

/** Minimum tokens of a piece. If even this is refused as too long, no summary is possible. */
const LEAST_PIECE = 50;

/** Minimum tokens of a summary if the window is unknown. */
const LEAST_BOUND = 50;

/** Approximate maximum number of requests for one summary. */
const MOST_PIECES = 60;

/** Tokens of the summary, of the room, and of the request without instructions and tools. */
interface RequestSize {
  readonly bound: number;
  readonly room: number;
  readonly sent: number;
}

/** Factor for the tokens that providers count around each message and call, and our count of texts does not have. */
const MESSAGE_FRAMES = 1.1;

interface SummaryOptions {
  /** The run that continues with the summary, if another model writes the summary. */
  readonly reader?: TurnRun;
  readonly standIn?: FallbackModel | undefined;
  /** Set if no turn waits for the summary. Retries are then not published. */
  readonly isQuiet?: boolean;
}

type FinishedResponse = ModelResponse & { readonly finish: NonNullable<ModelResponse["finish"]> };

/** Lets a model write a summary. Each request is a normal model call, with retries and fallbacks (F90). */
export class SummaryWriter {
  #asking: RunWithModel;
  readonly #reader: TurnRun;
  readonly #standIn: FallbackModel | undefined;
  readonly #isQuiet: boolean;
  readonly #responses: Pick<ModelResponse, "usage" | "cost">[] = [];

  constructor(asking: RunWithModel, { reader = asking.run, standIn, isQuiet = false }: SummaryOptions = {}) {
    this.#asking = asking;
    this.#reader = reader;
    this.#standIn = standIn;
    this.#isQuiet = isQuiet;
  }

  /** The model that was asked last. */
  get model(): ModelDriver {
    return this.#asking.model;
  }

  get spent(): { readonly usage: Usage; readonly cost: Cost } | undefined {
    if (this.#responses.length === 0) return undefined;
    return {
      usage: this.#responses.map(({ usage }) => usage).reduce(addUsage, noUsage),
      cost: this.#responses.map(({ cost }) => cost).reduce(addCost, 0),
    };
  }

  /** Writes the usage of the requests to the log if no summary message carries it. */
  async countSpent({ session, origin }: TurnRun): Promise<void> {
    const { spent } = this;
    if (!spent) return;
    const { usage, cost } = spent;
    const event = { type: "usage.counted", purpose: "summary", model: this.model.id, usage } as const;
    await session.commit([cost === undefined ? event : { ...event, cost }], { origin });
  }

  /**
   * Returns the summary of the messages. Messages that exceed one request are summarized in pieces, oldest first, each
   * after the summary so far (F88). Rejects with the reason when the model writes no summary.
   */
  async summaryOf(messages: readonly PromptMessage[], words: readonly string[] = []): Promise<string> {
    const { run } = this.#asking;
    const count: CountTexts = (...texts) => countTokens(run, ...texts);
    const room = await contextRoom(run);
    const isKnown = run.agent.compaction?.contextSize !== undefined;
    // For an unknown window, the room is the size of the conversation, which may be small.
    const bound = Math.max(
      isKnown ? 1 : LEAST_BOUND,
      Math.floor(summaryBound(Math.min(room, await contextRoom(this.#reader)))),
    );
    const request = requestFor(words, bound);
    const asking = await count(request);
    let most = isKnown ? Math.max(LEAST_PIECE, room - bound - asking) : Number.POSITIVE_INFINITY;
    if (estimate(messages.flatMap(messageTexts).join("")) > MOST_PIECES * most) throw new Error(TOO_MUCH);
    let summary: string | undefined;
    for (let rest = messages; rest.length > 0; ) {
      const limit = summary === undefined ? undefined : run.budget.exhausted();
      if (limit !== undefined)
        throw new Error(`The summary needed several requests, and the next request would have exceeded ${limit}.`);
      const before = summary === undefined ? [] : [userText(`The summary of all earlier messages:\n${summary}`)];
      const told = await count(...before.flatMap(messageTexts));
      const taken = await takeSummaryPiece(rest, most - told, count);
      const sent = told + taken.tokens;
      try {
        const size = { bound, room, sent: sent + asking };
        summary = await this.#boundedText([...before, ...taken.piece], request, size);
        rest = taken.rest;
      } catch (error) {
        if (!isSummaryRefusal(error, sent, room)) throw error;
        const { instructions, toolbox } = run.agent;
        learnWindow(this.model, windowFromError(error, sent + asking + (await count(instructions.text, toolbox.text))));
        if (sent / 2 < LEAST_PIECE) throw error;
        most = sent / 2;
      }
    }
    return summary ?? "";
  }

  /** Returns a text of at most `bound` tokens. A longer text is requested again, shorter, and then cut (F92). */
  async #boundedText(messages: readonly PromptMessage[], request: string, size: RequestSize): Promise<string> {
    const { run } = this.#asking;
    const isWhole = async ({ written, finish }: FinishedResponse) =>
      finish !== "length" && (await countTokens(run, written)) <= size.bound;
    const first = await this.#text([...messages, userText(request)], size);
    if (await isWhole(first)) return first.written;
    const again = await this.#againAsked(request, first.written, size);
    const second = await this.#text([...messages, ...again], size).catch((error: unknown) => {
      // The first text is better than no text.
      if (run.signal.aborted || first.written.trim() === "") throw error;
      return first;
    });
    const best = second.written.trim() ? second : first;
    if (best.written.trim() === "") throw new Error(CUT);
    return (await isWhole(best)) ? best.written : await this.#cut(best.written, size.bound);
  }

  async #againAsked(request: string, written: string, { bound, room, sent }: RequestSize): Promise<PromptMessage[]> {
    const { run } = this.#asking;
    const shorter = shorterRequest(bound);
    const most = Math.min(2 * bound, room - MESSAGE_FRAMES * sent - bound - (await countTokens(run, shorter)));
    const fits = (await countTokens(run, written)) <= most;
    const shown = fits ? written : most > 0 ? await this.#cut(written, most) : "";
    if (shown.trim() === "") return [userText(`${request}\n${shorter}`)];
    const said: PromptMessage = { role: "assistant", parts: [{ type: "text", text: shown }], results: [] };
    return [userText(request), said, userText(shorter)];
  }

  async #cut(text: string, bound: number): Promise<string> {
    const { run } = this.#asking;
    let cut = text + CUT_HERE;
    let { length } = text;
    for (let tokens = await countTokens(run, cut); tokens > bound && length > 0; ) {
      length = Math.floor(length * Math.min(0.9, bound / tokens));
      cut = length === 0 ? "" : cutTo(text, length, CUT_HERE);
      tokens = await countTokens(run, cut);
    }
    return cut;
  }

  /**
   * Sends the same head as all requests of the turn, because the provider caches it. For Anthropic the tool choice is
   * part of the head. If the model calls a tool, a second request forbids tools.
   */
  async #text(messages: readonly PromptMessage[], size: RequestSize): Promise<FinishedResponse> {
    const first = await this.#ask({ messages, toolChoice: "auto" }, size);
    const response = first.finish === "calls" ? await this.#ask({ messages, toolChoice: "none" }, size) : first;
    if (response.finish === "calls") throw new Error(CALLED);
    if (response.finish === "filtered") throw new Error(REFUSED);
    if (response.finish !== "length" && response.written.trim() === "") throw new Error(NO_TEXT);
    return response;
  }

  #limit({ bound, room, sent }: RequestSize): number {
    const { contextSize } = this.#asking.run.agent.compaction ?? {};
    if (contextSize === undefined) return bound + REASONING;
    // The count may be too small, and providers refuse a limit that does not fit.
    const left = contextSize - 1.25 * (contextSize - room + sent);
    return Math.max(bound, Math.floor(Math.min(bound + REASONING, left)));
  }

  #count(response: Pick<ModelResponse, "usage" | "cost">): void {
    this.#responses.push(response);
    this.#asking.run.budget.count(response.usage, response.cost);
  }

  /** Counts an aborted request by our own count: it must be paid for, and no provider reports its usage. */
  #countCut(begun: string, { room, sent }: RequestSize): void {
    const { run, model } = this.#asking;
    const head = Math.max(0, (run.agent.compaction?.contextSize ?? room) - room);
    const input = Math.round(head + sent);
    const cached = model === this.#reader.agent.model ? input : 0;
    const usage: Usage = { ...noUsage, input, cached, output: estimate(begun) };
    this.#count({ usage, cost: costOf(usage, model.price) });
  }

  async #ask(asked: Pick<ModelRequest, "messages" | "toolChoice">, size: RequestSize): Promise<FinishedResponse> {
    const maxTokens = this.#limit(size);
    let { run, model } = this.#asking;
    const { signal } = run;
    let patience = new Patience(run.agent, run.budget.steps > 1 || this.#responses.length > 0);
    for (;;) {
      const { instructions, toolbox, settings, retry, rateLimit } = run.agent;
      const waiting = { attempt: patience.attempt, tokens: Math.round(size.sent), isQuiet: this.#isQuiet };
      const countUsed = rateLimit && (await waitForRate(run, rateLimit, waiting));
      if (rateLimit && !countUsed) throw signal.reason;
      // The agent's stop texts must not cut a summary.
      const plain = { ...settings, maxTokens, stop: undefined };
      const head = { instructions: instructions.text, tools: toolbox.schemas, settings: plain };
      let error: ModelError;
      let begun = "";
      const onText = (text: string) => {
        begun += text;
      };
      try {
        const response = await askModel(heardBy(model, onText), { ...head, ...asked }, { signal, idle: retry.idle });
        this.#count(response);
        countUsed?.(totalTokens(response.usage));
        const { finish } = response;
        if (finish !== undefined) return { ...response, finish };
        error = new ModelError("broken-stream", `The stream of ${model.id} ended in the middle of a summary.`);
      } catch (cause) {
        if (signal.aborted) this.#countCut(begun, size);
        if (signal.aborted || !(cause instanceof ModelError)) throw cause;
        error = cause;
      }
      await notify(run, "onModelError", error);
      // A broken stream may have been paid for.
      const delay = patience.after(error, error.code === "broken-stream" || error.code === "stalled");
      if (delay !== undefined) {
        const waited = this.#isQuiet ? waitSilently(run, delay) : waitToRetry(run, patience.attempt, delay, error);
        if (!(await waited)) throw signal.reason;
        continue;
      }
      const by = await this.#standIn?.(error);
      if (signal.aborted) throw signal.reason;
      if (!by) throw error;
      // The run of a timed part has its own signal, so only the agent is taken over.
      ({ model } = by);
      run = { ...run, agent: by.run.agent };
      this.#asking = { run, model };
      patience = new Patience(run.agent, true);
    }
  }
}

function heardBy(model: ModelDriver, onText: (text: string) => void): ModelDriver {
  const { id, family, price } = model;
  const stream: ModelDriver["stream"] = (request, sink, signal) =>
    model.stream(
      request,
      {
        push(parts) {
          for (const part of parts) if (part.type === "text" || part.type === "reasoning") onText(part.text);
          return sink.push(parts);
        },
        ready: () => sink.ready(),
      },
      signal,
    );
  return { id, family, price, stream };
}

const TOO_MUCH = `The conversation is too long for this model: a summary would take more than ${MOST_PIECES} requests.`;
const NO_TEXT = "The model's summary was empty.";
const CUT = "The model's summary was cut off at the output limit before its first word.";
const CALLED = "The model called a tool twice instead of writing a summary.";
const REFUSED = "The model refused to write a summary.";
const CUT_HERE = "\n[This summary was longer than its limit and was cut here.]";

function isSummaryRefusal(error: unknown, sent: number, room: number): error is ModelError {
  if (!(error instanceof ModelError)) return false;
  return (
    error.code === "context-overflow" || (error.code === "invalid-request" && error.status === 400 && sent > room * 0.7)
  );
}

/** The headings make the model consider each kind of fact. */
const REQUEST = `Sum up the conversation above. The summary replaces the conversation, and you continue the work with the summary alone, so write down everything that still matters. Use these headings in this order, and leave out empty ones:

## Goal
The user's goal, in the user's words if these matter.
## Constraints
Orders, preferences and limits that still hold. If the user corrected an order, only the correction.
## Decisions
Each decision, and the reason.
## Done
Finished steps with their results: files, commands, names, paths and numbers.
## In progress
Current work, and its progress.
## Next
The steps that are left, in order.
## Open questions
Each open question, and who must answer it.

Leave out the rest. Answer with the summary alone; call no tool.`;

function requestFor(words: readonly string[], bound: number): string {
  const asked = `${REQUEST} Use at most ${wordsFor(bound)} words.`;
  if (words.length === 0) return asked;
  return `${asked}\n\nAbove all, follow these instructions of the user for the summary:\n${words.join("\n\n")}`;
}

function shorterRequest(bound: number): string {
  return `Your summary is too long. Write it again in at most ${wordsFor(bound)} words, and leave out what matters least. Answer with the summary alone; call no tool.`;
}

function wordsFor(tokens: number): number {
  return Math.max(10, Math.floor(tokens * 0.7));
}
