import { type ModelDriver, ModelError, type ModelRequest, type PromptMessage } from "../ports/model.ts";
import { type Beat, type ScriptedModel, scriptedModel, spend, text } from "../testing/scripted-model.ts";

/** The behaviour of a server with a window of its own. */
export interface LimitedOptions {
  /** Tokens that it takes, a token being four characters of text. */
  readonly window: number | (() => number);
  /** Its words when it refuses a request; `undefined` lets the engine find out by itself. */
  readonly words?: ((window: number, sent: number) => string) | undefined;
  /** Its count of the tokens of a request, which may be wrong. */
  readonly counts?: ((tokens: number) => number) | undefined;
  /** Refuses a request for which the window has room. */
  readonly refuses?: ((request: ModelRequest) => boolean) | undefined;
  readonly id?: string;
  readonly facts?: Partial<ModelDriver>;
}

export interface LimitedModel extends ScriptedModel {
  /** Sizes of the requests of turns that were refused, in tokens, and of those for a summary. */
  readonly refused: readonly number[];
  readonly refusedSummaries: readonly number[];
  /** Sizes of the requests that were taken. */
  readonly taken: readonly number[];
  /** Requests that were refused and came again, word for word. */
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

/** Tokens of a request, by a count that the engine does not use: every character that would be sent, by four. */
function tokensIn({ instructions, messages, tools }: ModelRequest): number {
  const inputs = messages.flatMap(({ parts }) =>
    parts.map((part) => (part.type === "call" ? JSON.stringify(part.input) : "")),
  );
  const characters = [instructions, JSON.stringify(tools), ...messages.map(textIn), ...inputs].join("").length;
  return Math.ceil(characters / 4);
}

/** A scripted model behind a window: it refuses what is too long, whatever the script says. */
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
