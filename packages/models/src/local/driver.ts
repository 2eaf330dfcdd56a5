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

/** Functions that make drivers for a model of a local server. */
export interface LocalWays {
  /** A driver for the chat completions format. */
  readonly chat: ModelDriver;
  /** Creates a driver for Ollama's own API, which can set the window. */
  native?(window: () => number | undefined): ModelDriver;
}

/**
 * Wraps a model of a local server, so that the server's real context window is used (F69). Asks the server for the
 * window before the first request and after each error. If the server cuts or refuses a prompt, the error says how to
 * enlarge the window. `set`: the window in the user's settings. Only Ollama can apply a larger window.
 */
export function localModel(served: ServedModel, ways: LocalWays, set: number | undefined): ModelDriver {
  const window = new LearntWindow(served, set, ways.native !== undefined);
  const native = ways.native?.(() => window.toSet);
  const { chat } = ways;
  let warned = false;
  return Object.freeze({
    ...chat,
    // vLLM answers many requests in parallel.
    ...(served.server !== "vllm" && { oneAtATime: true }),
    get contextSize() {
      return window.size;
    },
    learnContextSize: (signal: AbortSignal) => window.learn(signal),
    async stream(request: ModelRequest, sink: ModelSink, signal: AbortSignal) {
      signal.throwIfAborted();
      if (served.server === "ollama") refuseForcedCall(request, chat.id);
      // The list of messages grows while waiting for the server.
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
        // Another server with a different window may run at the address now.
        window.doubt();
        await window.learn(signal);
        if (isCut(now, input, window.ofServer)) throw window.cut(now, input);
      }
      sink.push([finish]);
    },
  });
}

/** Ollama ignores a choice of tools, at both of its addresses. */
function refuseForcedCall({ toolChoice }: ModelRequest, id: string): void {
  if (toolChoice === "auto" || toolChoice === "none") return;
  const fact = `${id} cannot be forced to call a tool, because Ollama has no tool_choice`;
  throw new ModelError("invalid-request", { fact, advice: "use another server, or leave out toolChoice" });
}

/** Milliseconds between progress reports while a model is loaded. */
const SIGN_OF_LIFE = 5_000;

export async function alive<T>(sink: ModelSink, work: Promise<T>): Promise<T> {
  const signs = setInterval(() => sink.push([]), SIGN_OF_LIFE);
  try {
    return await work;
  } finally {
    clearInterval(signs);
  }
}

type FinishPart = Extract<ModelPart, { type: "finish" }>;

/** Delays the end of a response until the prompt is known to be whole, so that no call runs before. */
class CountingSink implements ModelSink {
  finish: FinishPart | undefined;
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

/** Maximum answers without a window, before the server is no longer asked. */
const ASKED = 2;

class LearntWindow {
  readonly #served: ServedModel;
  readonly #set: number | undefined;
  readonly #canBeSet: boolean;
  #said: ServerWindow | undefined;
  #asking: Promise<void> | undefined;
  #asked = 0;
  #stale = true;
  #isAnswered = false;

  /** `canBeSet`: whether requests can set the window. */
  constructor(served: ServedModel, set: number | undefined, canBeSet: boolean) {
    this.#served = served;
    this.#set = set;
    this.#canBeSet = canBeSet;
  }

  /** Tokens of the window of requests, if known. */
  get size(): number | undefined {
    return windowSize(this.#set, this.#said);
  }

  /** Tokens of the window that the server gives a request, even if the user wants less. */
  get ofServer(): number | undefined {
    return this.toSet ?? this.#said?.size;
  }

  get isSettable(): boolean {
    return this.#said?.canSet === true;
  }

  /** Tokens of the window that a request asks for. */
  get toSet(): number | undefined {
    return this.isSettable && this.#set !== undefined ? this.size : undefined;
  }

  /** True to ask the server before the next request. */
  get isDue(): boolean {
    return this.#stale && this.#asked < ASKED;
  }

  /** A warning for a user whose setting exceeds the available window. */
  get excess(): string | undefined {
    if (this.#set === undefined || this.size === undefined || this.size >= this.#set) return undefined;
    const fact = `${this.#name} has a context of ${formatTokenCount(this.size)} tokens, which is less than contextSize ${formatTokenCount(this.#set)} in your settings.`;
    return this.isSettable ? fact : `${fact} To make the context larger, ${this.#advice}.`;
  }

  /** Rejects only with the reason of the signal. */
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

  /** Called after a response: a server that loaded the model for the first request now knows the window. */
  answered(): void {
    if (!this.#isAnswered && this.#stale) this.#asked = 0;
    this.#isAnswered = true;
  }

  /** Called when another server may have replaced this server: asks again. */
  doubt(): void {
    this.#stale = true;
    this.#asked = 0;
  }

  explained(error: ModelError): ModelError {
    this.doubt();
    if (error.code !== "context-overflow") return error;
    const { status, detail = error.message } = error;
    const said = { fact: error.fact, advice: `make it shorter, or ${this.#advice}` };
    return new ModelError(error.code, said, { cause: error, detail, ...(status === undefined ? {} : { status }) });
  }

  cut(request: ModelRequest, read: number): ModelError {
    const window = this.ofServer === undefined ? "" : `; its context size is ${formatTokenCount(this.ofServer)} tokens`;
    const fact = `${this.#name} read only ${formatTokenCount(read)} tokens of the request and dropped the rest${window}`;
    const size = JSON.stringify([request.instructions, request.messages]).length;
    return this.explained(
      new ModelError("context-overflow", fact, {
        detail: `${fact}. The request has ${formatTokenCount(size)} characters.`,
      }),
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
    // The first request would load the model too, and the window is only known after loading.
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

const ADVICE: Readonly<Record<LocalServerName, (name: string, most: number | undefined) => string>> = {
  ollama: (name, most) =>
    `set contextSize of "${name}" under "models" in settings.json${most === undefined ? "" : ` (at most ${formatTokenCount(most)})`}, or OLLAMA_CONTEXT_LENGTH for the server`,
  lmstudio: (_, most) =>
    `load the model with a larger context length in LM Studio${most === undefined ? "" : ` (at most ${formatTokenCount(most)})`}`,
  llamacpp: () => "start llama-server with a larger --ctx-size",
  vllm: () => "start vLLM with a larger --max-model-len",
};

function formatTokenCount(tokens: number): string {
  return tokens.toLocaleString("en");
}
