import type { ModelDriver } from "@banyan/core";
import type { Price } from "@banyan/core/conversation";
import { expect } from "vitest";
import type { EnvironmentVariables } from "../../provider/environment.ts";
import { resolveModel } from "../../resolve.ts";
import {
  type Exchange,
  exchangesInAnthropic,
  exchangesInChat,
  exchangesInGoogle,
  exchangesInResponses,
} from "./exchanges.ts";

/** The parts of a wire format that differ between formats, as the scenarios need them. */
interface Wire {
  readonly path: string;
  /**
   * Number of events that the mock sends before the first fragment of an answer of this kind, or of a text after one
   * fragment of reasoning. Cuts are counted in events.
   */
  readonly before: Readonly<Record<"text" | "reasoning" | "call" | "textAfterReasoning", number>>;
  /** The calls and results in a request. */
  exchanges(body: unknown): Exchange[];
  /** The reasoning of earlier answers in a request. */
  reasoningIn(body: unknown): unknown[];
  /** The form of earlier reasoning in requests: none, the provider's id of a finished answer's reasoning, or all of it. */
  givenBack(reasoning: { readonly text: string; readonly signature: string; readonly finished: boolean }): unknown[];
  /** The result of a failed call. */
  failure(output: string): string;
  /** The tool choice of a request, and its value for a request without calls. */
  choiceIn(body: unknown): unknown;
  readonly noCalls: unknown;
  /** Calls arrive in one piece with valid JSON arguments, so a test cannot cut or malform them. */
  readonly callsComeWhole?: true;
  /** Empty messages of a request, which providers refuse. */
  emptyIn(body: unknown): unknown[];
}

/** A wire format with a model name and environment that lead to it. */
export interface Format extends Wire {
  readonly name: string;
  /** `provider/model`. */
  readonly model: string;
  /** The price in the catalogue; absent if unknown. */
  readonly price?: Price;
  environment(address: string): EnvironmentVariables;
  /** Uses the provider's package in place of our own driver. */
  readonly throughPackage?: true;
}

interface ChatBody {
  readonly messages: readonly {
    readonly content: string | null;
    readonly tool_calls?: readonly unknown[];
    readonly reasoning_content?: string;
  }[];
}

const toolChoiceIn = (body: unknown): unknown => (body as { readonly tool_choice?: unknown }).tool_choice;

const chat: Wire = {
  path: "/v1/chat/completions",
  before: { text: 1, reasoning: 0, call: 2, textAfterReasoning: 2 },
  exchanges: exchangesInChat,
  reasoningIn: (body) => (body as ChatBody).messages.flatMap(({ reasoning_content }) => reasoning_content ?? []),
  givenBack: ({ text }) => [text],
  failure: (output) => output,
  choiceIn: toolChoiceIn,
  noCalls: "none",
  emptyIn: (body) => (body as ChatBody).messages.filter(({ content, tool_calls }) => !content && !tool_calls),
};

interface ResponsesBody {
  readonly input: readonly { readonly type?: string; readonly id?: string; readonly content?: readonly unknown[] }[];
}

const responses: Wire = {
  path: "/v1/responses",
  // For this format the mock begins each answer with encrypted reasoning, as requested.
  before: { text: 6, reasoning: 4, call: 5, textAfterReasoning: 10 },
  exchanges: exchangesInResponses,
  reasoningIn: (body) =>
    (body as ResponsesBody).input.flatMap(({ type, id = "" }) =>
      type === "reasoning" || (type === "item_reference" && id.startsWith("rs")) ? [id] : [],
    ),
  givenBack: ({ finished }) => (finished ? [expect.stringMatching(/^rs/)] : []),
  failure: (output) => JSON.stringify({ error: output }),
  choiceIn: toolChoiceIn,
  noCalls: "none",
  emptyIn: (body) => (body as ResponsesBody).input.filter(({ content }) => content?.length === 0),
};

interface AnthropicBody {
  readonly messages: readonly { readonly content: readonly { readonly type: string; readonly text?: string }[] }[];
}

const anthropic: Wire = {
  path: "/v1/messages",
  before: { text: 2, reasoning: 2, call: 2, textAfterReasoning: 6 },
  exchanges: exchangesInAnthropic,
  reasoningIn: (body) =>
    (body as AnthropicBody).messages.flatMap(({ content }) => content.filter(({ type }) => type === "thinking")),
  givenBack: ({ text, signature }) => [{ type: "thinking", thinking: text, signature }],
  // The format marks failed results with a field of its own.
  failure: (output) => output,
  choiceIn: toolChoiceIn,
  noCalls: { type: "none" },
  emptyIn: (body) =>
    (body as AnthropicBody).messages.filter(
      ({ content }) => content.length === 0 || content.some(({ type, text }) => type === "text" && text === ""),
    ),
};

interface GoogleBody {
  readonly contents: readonly { readonly parts: readonly { readonly text?: string; readonly thought?: true }[] }[];
  readonly toolConfig?: { readonly functionCallingConfig?: { readonly mode?: string } };
}

const google: Omit<Wire, "path"> = {
  before: { text: 0, reasoning: 0, call: 0, textAfterReasoning: 1 },
  exchanges: exchangesInGoogle,
  reasoningIn: (body) => (body as GoogleBody).contents.flatMap(({ parts }) => parts.filter(({ thought }) => thought)),
  // The mock gives no signatures in this format.
  givenBack: ({ text }) => [{ text, thought: true }],
  failure: (output) => output,
  choiceIn: (body) => (body as GoogleBody).toolConfig?.functionCallingConfig?.mode,
  noCalls: "NONE",
  emptyIn: (body) =>
    (body as GoogleBody).contents.filter(({ parts }) => parts.length === 0 || parts.some(({ text }) => text === "")),
  callsComeWhole: true,
};

const gpt = { input: 1.25, output: 10 };
const claude = { input: 3, output: 15 };

const gemini: Omit<Format, "name"> = {
  ...google,
  model: "google/gemini-2.5-flash",
  path: "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
  price: { input: 0.3, output: 2.5 },
  environment: (address) => ({
    GOOGLE_GENERATIVE_AI_BASE_URL: `${address}/v1beta`,
    GOOGLE_GENERATIVE_AI_API_KEY: "test-key",
  }),
};

const openaiResponses: Format = {
  ...responses,
  name: "OpenAI responses",
  model: "openai/gpt-5",
  price: gpt,
  environment: (address) => ({ OPENAI_BASE_URL: `${address}/v1`, OPENAI_API_KEY: "test-key" }),
};

export const formats: readonly Format[] = [
  {
    ...chat,
    name: "OpenAI chat, at any address",
    model: "openai-compatible/gpt-5",
    environment: (address) => ({ OPENAI_COMPATIBLE_BASE_URL: `${address}/v1`, OPENAI_COMPATIBLE_API_KEY: "test-key" }),
  },
  {
    ...chat,
    name: "OpenAI chat",
    model: "openai-chat/gpt-5",
    price: gpt,
    environment: (address) => ({ OPENAI_BASE_URL: `${address}/v1`, OPENAI_API_KEY: "test-key" }),
  },
  openaiResponses,
  { ...openaiResponses, name: "OpenAI responses, through its package", throughPackage: true },
  {
    ...anthropic,
    name: "Anthropic",
    model: "anthropic/claude-sonnet-4-5",
    price: claude,
    environment: (address) => ({ ANTHROPIC_BASE_URL: address, ANTHROPIC_API_KEY: "test-key" }),
  },
  {
    ...anthropic,
    name: "Anthropic, through its package, at an address with its version",
    model: "anthropic/claude-sonnet-4-5",
    throughPackage: true,
    price: claude,
    environment: (address) => ({ ANTHROPIC_BASE_URL: `${address}/v1`, ANTHROPIC_API_KEY: "test-key" }),
  },
  { ...gemini, name: "Gemini" },
  { ...gemini, name: "Gemini, through its package", throughPackage: true },
  {
    ...chat,
    name: "Ollama's own address for OpenAI's format",
    model: "ollama/qwen3:8b",
    price: { input: 0, output: 0 },
    environment: (address) => ({ OLLAMA_BASE_URL: address }),
  },
];

/** The driver of a format for a server address, made as the program does. */
export function openAt(
  { model, environment, throughPackage }: Format,
  address: string,
  fetch?: typeof globalThis.fetch,
): Promise<ModelDriver> {
  const overrides = throughPackage ? { [model]: { driver: "package" as const } } : {};
  return resolveModel(model, { env: environment(address), overrides, fetch });
}
