import { type ModelDriver, ModelError, type ModelRequest, type PromptMessage } from "../ports/model.ts";
import { type Beat, type ScriptedModel, scriptedModel, spend, text } from "../testing/scripted-model.ts";

/** Options for a server with a context window. */
export interface LimitedOptions {
  /** Size of the window in tokens of four characters. */
  readonly window: number | (() => number);
  /** Message of a refusal. Absent: a default message. */
  readonly words?: ((window: number, sent: number) => string) | undefined;
  /** The server's count for a request, which may be wrong. */
  readonly counts?: ((tokens: number) => number) | undefined;
  /** Refuses requests although they fit into the window. */
  readonly refuses?: ((request: ModelRequest) => boolean) | undefined;
  readonly id?: string;
  readonly facts?: Partial<ModelDriver>;
}

export interface LimitedModel extends ScriptedModel {
  /** Tokens of refused requests of turns, and of refused requests for summaries. */
  readonly refused: readonly number[];
  readonly refusedSummaries: readonly number[];
  /** Tokens of the accepted requests. */
  readonly taken: readonly number[];
  /** Refused requests that were sent again unchanged. */
  readonly repeated: readonly string[];
}

/** The text of a message. */
function textIn(message: PromptMessage): string {
  const said = message.parts.map((part) => ("text" in part ? part.text : ""));
  return [...said, ...("results" in message ? message.results.map(({ output }) => output) : [])].join("\n");
}

export const allText = ({ messages }: ModelRequest) => messages.map(textIn).join("\n");

export const isSummaryRequest = ({ messages }: ModelRequest) =>
  /^(Sum up|Summari[sz]e)/.test(messages.slice(-1).map(textIn).join());

/** Tokens of a request by a count that the engine does not use: all characters divided by four. */
function tokensIn({ instructions, messages, tools }: ModelRequest): number {
  const inputs = messages.flatMap(({ parts }) =>
    parts.map((part) => (part.type === "call" ? JSON.stringify(part.input) : "")),
  );
  const characters = [instructions, JSON.stringify(tools), ...messages.map(textIn), ...inputs].join("").length;
  return Math.ceil(characters / 4);
}

/** A scripted model with a window: refuses requests that are too long, whatever the script does. */
export function limitedModel(
  script: (request: ModelRequest, index: number) => string | readonly Beat[],
  { window, words = tooLong, counts = (tokens) => tokens, refuses, id, facts = {} }: LimitedOptions,
): LimitedModel {
  const refused: number[] = [];
  const refusedSummaries: number[] = [];
  const taken: number[] = [];
  const repeated: string[] = [];
  const known = new Set<string>();
  const model = scriptedModel(
    (request, index) => {
      const beats = script(request, index);
      const input = counts(tokensIn(request));
      return [spend({ input, output: 5 }), ...(typeof beats === "string" ? [text(beats)] : beats)];
    },
    { id },
  );
  const { stream } = model;
  return Object.defineProperties({} as LimitedModel, {
    ...Object.getOwnPropertyDescriptors(model),
    ...Object.getOwnPropertyDescriptors({
      ...facts,
      refused,
      refusedSummaries,
      taken,
      repeated,
      async stream(...[request, sink, signal]: Parameters<ModelDriver["stream"]>) {
        const tokens = tokensIn(request);
        const most = typeof window === "function" ? window() : window;
        if (tokens <= most && !refuses?.(request)) {
          taken.push(tokens);
          return stream(request, sink, signal);
        }
        const whole = JSON.stringify([request.instructions, request.messages]);
        if (known.has(whole)) repeated.push(whole.slice(0, 200));
        known.add(whole);
        (isSummaryRequest(request) ? refusedSummaries : refused).push(tokens);
        throw new ModelError("context-overflow", words(most, tokens), { status: 400 });
      },
    }),
  });
}

function tooLong(window: number, sent: number): string {
  return `This model's maximum context length is ${window} tokens. However, your messages resulted in ${sent} tokens.`;
}
