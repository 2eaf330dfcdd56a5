import type { Session } from "@banyan/core";
import { addCost, addUsage, type Cost, type Notice, pathTo, type Usage } from "@banyan/core/conversation";
import { promptFrom } from "@banyan/core/hosts";
import { type Attributes, type Context, context, type Span, SpanKind } from "@opentelemetry/api";
import { instructionsAttribute, promptAttribute, responseAttribute, toolsText } from "./content.ts";
import { BANYAN, FINISHES, GENAI, type HISTOGRAMS, OPERATION, splitModelName } from "./conventions.ts";
import {
  type EventOf,
  endSpan,
  type Instruments,
  type OpenSpan,
  type OpenTurn,
  setContent,
  startNamed,
  usageAttributes,
} from "./open-span.ts";

interface OpenChat extends OpenSpan {
  message: string;
  /** Time of the first part of the response, in milliseconds since 1970. */
  firstChunk: number | undefined;
  retries: number;
  failure: string | undefined;
}

/** Keeps the spans of model calls. A span covers all attempts of a call. A turn has at most one open span. */
export class ModelCalls {
  readonly #session: Session;
  readonly #to: Instruments;
  readonly #open = new Map<OpenTurn, OpenChat>();
  /** Turns by the ids of their responses, until the turn ends. */
  readonly #turns = new Map<string, OpenTurn>();
  /** True if the conversation has a summary. Without summaries and content, paths need not be walked. */
  #hasSummary: boolean;

  constructor(session: Session, to: Instruments) {
    this.#session = session;
    this.#to = to;
    this.#hasSummary = session.state.messages.values().some(({ role }) => role === "summary");
  }

  turnOf(message: string): OpenTurn | undefined {
    return this.#turns.get(message);
  }

  asked({ message, parentId, model, at }: EventOf<"message.started">, turn: OpenTurn): void {
    this.#turns.set(message, turn);
    const again = this.#open.get(turn);
    if (again) {
      Object.assign(again, { message, failure: undefined, firstChunk: undefined });
      return;
    }
    const path = this.#hasSummary || this.#to.content ? pathTo(this.#session.state, parentId) : [];
    const names = splitModelName(model);
    const said = saidOf(names);
    const span = this.#start(message, names.model, at, turn.within, {
      ...said,
      [GENAI.agent]: turn.started.agent,
      [GENAI.stream]: true,
      ...settingsAttributes(turn.started.settings),
      ...(path.some(({ role, unreadable }) => role === "summary" && unreadable === undefined)
        ? { [GENAI.compacted]: true }
        : {}),
    });
    this.#open.set(turn, { span, at, said, message, firstChunk: undefined, retries: 0, failure: undefined });
    if (!this.#to.content || !span.isRecording()) return;
    const { contents } = this.#session.state;
    const instructions = contents.get(turn.started.instructions);
    const tools = contents.get(turn.started.tools);
    if (instructions) setContent(this.#to, span, GENAI.instructions, instructionsAttribute(instructions));
    if (tools) setContent(this.#to, span, GENAI.tools, toolsText(tools));
    setContent(this.#to, span, GENAI.input, promptAttribute(promptFrom(path)));
  }

  heard(message: string): void {
    const turn = this.#turns.get(message);
    const chat = turn && this.#open.get(turn);
    if (chat?.message === message) chat.firstChunk ??= Date.now();
  }

  completed({ message, finish, usage, cost, at }: EventOf<"message.completed">): void {
    const turn = this.#turns.get(message);
    if (!turn) return;
    addToTurn(turn, usage, cost);
    const chat = this.#open.get(turn);
    if (chat?.message !== message) return;
    const { span } = chat;
    span.setAttributes({
      ...usageAttributes(usage, cost),
      [GENAI.finish]: [FINISHES[finish]],
      [BANYAN.message]: message,
    });
    const response = this.#session.state.messages.get(message);
    if (this.#to.content && response?.role === "assistant") {
      setContent(this.#to, span, GENAI.output, responseAttribute(response));
    }
    this.#measure(usage, chat.said);
    if (finish === "error") chat.failure ??= "_OTHER";
    else this.#end(turn, at);
  }

  /** An attempt ended without a response. A retry or the end of the turn follows. */
  abandoned({ message, usage, cost }: EventOf<"message.abandoned">): void {
    const turn = this.#turns.get(message);
    if (!turn) return;
    if (usage) addToTurn(turn, usage, cost);
    const chat = this.#open.get(turn);
    if (chat?.message === message) chat.failure = "_OTHER";
  }

  retrying({ attempt, delay, code, status }: Extract<Notice, { type: "model.retrying" }>, turn: OpenTurn): void {
    const chat = this.#open.get(turn);
    if (!chat) return;
    chat.retries = attempt - 1;
    chat.failure = code;
    chat.span.addEvent("retry", {
      [GENAI.error]: code,
      [BANYAN.retryDelay]: delay,
      ...(status === undefined ? {} : { [BANYAN.status]: status }),
    });
  }

  /** A model wrote a title or a summary, or judged a goal. The span of a title has no length: the log lacks the start of its request. */
  aside(
    {
      at,
      usage,
      cost,
      model,
    }: { readonly at: number; readonly usage: Usage; readonly cost?: Cost; readonly model: string },
    purpose: "title" | "summary" | "judge",
    turn: OpenTurn | undefined,
  ): void {
    const names = splitModelName(model);
    const said = saidOf(names);
    const name = `${purpose} ${this.#session.id} ${at}`;
    const span = this.#start(name, names.model, turn?.shortening ?? at, turn?.within ?? context.active(), {
      ...said,
      [BANYAN.purpose]: purpose,
      ...usageAttributes(usage, cost),
    });
    span.end(new Date(at));
    this.#measure(usage, said);
    if (turn) addToTurn(turn, usage, cost);
  }

  summarized(): void {
    this.#hasSummary = true;
  }

  turnEnded(turn: OpenTurn, at: number, failure: string): void {
    const chat = this.#open.get(turn);
    if (chat) {
      chat.failure = failure;
      this.#end(turn, at);
    }
    for (const [message, of] of this.#turns) if (of === turn) this.#turns.delete(message);
  }

  #start(name: string, model: string, at: number, within: Context, attributes: Attributes): Span {
    const options = {
      startTime: new Date(at),
      kind: SpanKind.CLIENT,
      attributes: { ...attributes, [GENAI.conversation]: this.#session.id },
    };
    return startNamed(this.#to, name, () => this.#to.tracer.startSpan(`${OPERATION.model} ${model}`, options, within));
  }

  #end(turn: OpenTurn, at: number): void {
    const chat = this.#open.get(turn);
    if (!chat) return;
    this.#open.delete(turn);
    const { span, said, firstChunk, retries, failure } = chat;
    if (firstChunk !== undefined) {
      const time = Math.max(0, firstChunk - chat.at) / 1_000;
      span.setAttribute(GENAI.firstChunk, time);
      this.#to.histograms["gen_ai.client.inference.time_to_first_chunk"].record(time, said);
    }
    if (retries > 0) span.setAttribute(BANYAN.retries, retries);
    endSpan(
      this.#to,
      chat,
      at,
      "gen_ai.client.inference.duration",
      failure === undefined ? undefined : { type: failure },
    );
  }

  #measure(usage: Usage, said: Attributes): void {
    for (const [name, tokens] of Object.entries(TOKENS)) {
      const value = tokens(usage);
      if (value > 0) this.#to.histograms[name as keyof typeof TOKENS].record(value, said);
    }
  }
}

const TOKENS = {
  "gen_ai.client.inference.usage.input_tokens": ({ input }: Usage) => input,
  "gen_ai.client.inference.usage.output_tokens": ({ output }: Usage) => output,
  "gen_ai.client.inference.usage.cache_read.input_tokens": ({ cached }: Usage) => cached,
  "gen_ai.client.inference.usage.cache_write.input_tokens": ({ cacheWrite }: Usage) => cacheWrite,
  "gen_ai.client.inference.usage.reasoning.output_tokens": ({ reasoning }: Usage) => reasoning,
} satisfies Partial<Record<keyof typeof HISTOGRAMS, (usage: Usage) => number>>;

function saidOf({ provider, model }: ReturnType<typeof splitModelName>): Attributes {
  return { [GENAI.operation]: OPERATION.model, [GENAI.provider]: provider, [GENAI.model]: model };
}

function addToTurn(turn: OpenTurn, usage: Usage, cost: Cost): void {
  turn.usage = addUsage(turn.usage, usage);
  turn.cost = addCost(turn.cost, cost);
}

/** Returns the settings of a run in the log. Any setting may be missing. */
function settingsAttributes(settings: object): Attributes {
  const known: Partial<Record<string, string | number | string[]>> = { ...settings };
  const { temperature, topP, seed, maxTokens, stop, effort } = known;
  return {
    ...(temperature === undefined ? {} : { [GENAI.temperature]: temperature }),
    ...(topP === undefined ? {} : { [GENAI.topP]: topP }),
    ...(seed === undefined ? {} : { [GENAI.seed]: seed }),
    ...(maxTokens === undefined ? {} : { [GENAI.maxTokens]: maxTokens }),
    ...(stop === undefined ? {} : { [GENAI.stopSequences]: stop }),
    ...(effort === undefined ? {} : { [GENAI.reasoningLevel]: effort }),
  };
}
