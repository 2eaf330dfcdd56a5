import { type ModelDriver, ModelError } from "@banyan/core";
import { isCut, type ModelPart, type ModelRequest, type ModelSink } from "@banyan/core/drivers";
import {
  askWindow,
  type LocalServerName,
  loadInOllama,
  type ServedModel,
  type ServerWindow,
  windowSize,
} from "./window.ts";

/** The ways to a model of a local server. */
export interface LocalWays {
  /** Over its address for the chat completions format. */
  readonly chat: ModelDriver;
  /** Over Ollama's own API, which sets the window. */
  native?(window: () => number | undefined): ModelDriver;
}

/**
 * A model of a local server, with an honest window (F69): the server is asked for the window before the first request, and
 * again after each error. A prompt that the server has cut, or refuses as too long, is an error that says what to set.
 *
 * @param set The window that the user sets. Ollama's requests ask for it; elsewhere the server's counts if it is smaller.
 */
export function localModel(served: ServedModel, ways: LocalWays, set: number | undefined): ModelDriver {
  const window = new LearntWindow(served, set, ways.native !== undefined);
  const native = ways.native?.(() => window.toSet);
  const { chat } = ways;
  let warned = false;
  return Object.freeze({
    ...chat,
    // vLLM answers many requests at once.
    ...(served.server !== "vllm" && { oneAtATime: true }),
    get contextSize() {
      return window.size;
    },
    learnContextSize: (signal: AbortSignal) => window.learn(signal),
    async stream(request: ModelRequest, sink: ModelSink, signal: AbortSignal) {
      signal.throwIfAborted();
      // The list of messages grows while the server is asked, and while it answers.
      const now = { ...request, messages: request.messages.slice() };
      const asked = window.isDue ? now : request;
      if (window.isDue) await alive(sink, window.learn(signal));
      const { excess } = window;
      if (!warned && excess !== undefined) {
        warned = true;
        sink.push([{ type: "note", text: excess }]);
      }
      const counted = new CountingSink(sink);
      try {
        await (native && window.isSettable ? native : chat).stream(asked, counted, signal);
      } catch (error) {
        throw error instanceof ModelError ? window.explained(error) : error;
      }
      const { finish } = counted;
      window.answered();
      await window.learn(signal);
      if (!finish) return;
      const { input } = finish.usage;
      if (isCut(now, input, window.ofServer)) {
        // Another server may have come in its place, with a larger window.
        window.doubt();
        await window.learn(signal);
        if (isCut(now, input, window.ofServer)) throw window.cut(now, input);
      }
      sink.push([finish]);
    },
  });
}

/** Milliseconds between signs of life while a server loads a model. */
const SIGN_OF_LIFE = 5_000;

async function alive<T>(sink: ModelSink, work: Promise<T>): Promise<T> {
  const signs = setInterval(() => sink.push([]), SIGN_OF_LIFE);
  try {
    return await work;
  } finally {
    clearInterval(signs);
  }
}

type Finish = Extract<ModelPart, { type: "finish" }>;

/** Keeps the end of a response back until its prompt is known to be whole: no call runs before. */
class CountingSink implements ModelSink {
  finish: Finish | undefined;
  readonly #sink: ModelSink;

  constructor(sink: ModelSink) {
    this.#sink = sink;
  }

  push(parts: readonly ModelPart[]): boolean {
    const last = parts.at(-1);
    if (last?.type !== "finish") return this.#sink.push(parts);
    this.finish = last;
    return this.#sink.push(parts.slice(0, -1));
  }

  ready(): Promise<void> {
    return this.#sink.ready();
  }
}

/** Answers of a server that do not tell the window before it is asked no more. */
const ASKED = 2;

/** The window of one model, as far as it is known. */
class LearntWindow {
  readonly #served: ServedModel;
  readonly #set: number | undefined;
  readonly #canBeSet: boolean;
  #said: ServerWindow | undefined;
  #asking: Promise<void> | undefined;
  /** How often the server was asked in vain. */
  #asked = 0;
  #stale = true;
  #isAnswered = false;

  /** @param canBeSet Whether requests go the way that sets a window. */
  constructor(served: ServedModel, set: number | undefined, canBeSet: boolean) {
    this.#served = served;
    this.#set = set;
    this.#canBeSet = canBeSet;
  }

  /** Tokens that requests have, as far as they are known. */
  get size(): number | undefined {
    return windowSize(this.#set, this.#said);
  }

  /** Tokens of the window that a request gets, whatever smaller one the user wants. */
  get ofServer(): number | undefined {
    return this.toSet ?? this.#said?.size;
  }

  /** A request can set the window. */
  get isSettable(): boolean {
    return this.#said?.canSet === true;
  }

  /** Tokens that a request asks for. */
  get toSet(): number | undefined {
    return this.isSettable && this.#set !== undefined ? this.size : undefined;
  }

  /** The server should be asked before the next request. */
  get isDue(): boolean {
    return this.#stale && this.#asked < ASKED;
  }

  /** A sentence for the user whose setting is larger than what there is. */
  get excess(): string | undefined {
    if (this.#set === undefined || this.size === undefined || this.size >= this.#set) return undefined;
    const fact = `${this.#name} has a context of ${count(this.size)} tokens, so contextSize ${count(this.#set)} of the settings counts as that.`;
    return this.isSettable ? fact : `${fact} To make it larger, ${this.#advice}.`;
  }

  /** Asks the server, unless the window is known. Rejects only with the reason of the signal. */
  async learn(signal: AbortSignal): Promise<void> {
    if (!this.isDue) return;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    try {
      signal.throwIfAborted();
      await Promise.race([this.#asking, aborted.promise]);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /** A request was answered. A server that had to load the model for the first one knows the window now. */
  answered(): void {
    if (!this.#isAnswered && this.#stale) this.#asked = 0;
    this.#isAnswered = true;
  }

  /** The server may be another one from now on: it is asked again. */
  doubt(): void {
    this.#stale = true;
    this.#asked = 0;
  }

  /** An error of the server, with what to set where the request was too long. */
  explained(error: ModelError): ModelError {
    this.doubt();
    if (error.code !== "context-overflow") return error;
    const { status, detail = error.message } = error;
    const said = { fact: error.fact, advice: `make it shorter, or ${this.#advice}` };
    return new ModelError(error.code, said, { cause: error, detail, ...(status === undefined ? {} : { status }) });
  }

  /** The error of a prompt of which the server read a part. */
  cut(request: ModelRequest, read: number): ModelError {
    const window = this.ofServer === undefined ? "" : `; its context size is ${count(this.ofServer)} tokens`;
    const fact = `${this.#name} read only ${count(read)} tokens of the request and dropped the rest${window}`;
    const size = JSON.stringify([request.instructions, request.messages]).length;
    return this.explained(
      new ModelError("context-overflow", fact, { detail: `${fact}. The request has ${count(size)} characters.` }),
    );
  }

  get #name(): string {
    return `${this.#served.server}/${this.#served.model}`;
  }

  get #advice(): string {
    return ADVICE[this.#served.server](this.#name, this.#said?.most);
  }

  async #ask(): Promise<void> {
    let said = await this.#answer();
    // The first request would load the model too; the window is known only then.
    if (said?.canSet && said.size === undefined && this.#set === undefined) {
      await loadInOllama(this.#served);
      said = await this.#answer();
    }
    this.#said = said ?? this.#said;
    this.#asked++;
    this.#stale = this.size === undefined;
  }

  async #answer(): Promise<ServerWindow | undefined> {
    const said = await askWindow(this.#served);
    return said?.canSet && !this.#canBeSet ? { size: said.size, most: said.most } : said;
  }
}

/** How a window is made larger. */
const ADVICE: Readonly<Record<LocalServerName, (name: string, most: number | undefined) => string>> = {
  ollama: (name, most) =>
    `set contextSize of "${name}" under "models" in settings.json${most === undefined ? "" : ` (at most ${count(most)})`}, or OLLAMA_CONTEXT_LENGTH for the server`,
  lmstudio: (_, most) =>
    `load the model with a larger context length in LM Studio${most === undefined ? "" : ` (at most ${count(most)})`}`,
  llamacpp: () => "start llama-server with a larger --ctx-size",
  vllm: () => "start vLLM with a larger --max-model-len",
};

function count(tokens: number): string {
  return tokens.toLocaleString("en");
}
