import { Agent, Session, type Tool, type TurnError } from "@banyan/core";
import type { FeedItem } from "@banyan/core/conversation";
import type { EnvironmentVariables } from "./provider/environment.ts";
import { resolveModel } from "./resolve.ts";
import { eventOf, serve } from "./testing/server.ts";

// Whole turns against a server with answers from public bug reports: checks the user's result and the number of model
// calls. All formats and packages that can send the same content share one table.

/** A response with status and body; `cut`: the connection is reset after it. */
export interface Sent {
  readonly status?: number;
  readonly body: string | Buffer;
  readonly cut?: true;
}

const google = (url: string) => ({ GOOGLE_GENERATIVE_AI_API_KEY: "k", GOOGLE_GENERATIVE_AI_BASE_URL: url });

export const MODELS = {
  chat: ["openai-compatible/m", (url: string) => ({ OPENAI_COMPATIBLE_BASE_URL: url })],
  "chat package": ["openai-compatible/m", (url: string) => ({ OPENAI_COMPATIBLE_BASE_URL: url })],
  groq: ["groq/m", (url: string) => ({ GROQ_API_KEY: "k", GROQ_BASE_URL: url })],
  deepseek: ["deepseek/m", (url: string) => ({ DEEPSEEK_API_KEY: "k", DEEPSEEK_BASE_URL: url })],
  mistral: ["mistral/m", (url: string) => ({ MISTRAL_API_KEY: "k", MISTRAL_BASE_URL: url })],
  openrouter: ["openrouter/m", (url: string) => ({ OPENROUTER_API_KEY: "k", OPENROUTER_BASE_URL: url })],
  messages: ["anthropic/claude-sonnet-4-5", (url: string) => ({ ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: url })],
  "messages package": [
    "anthropic/claude-sonnet-4-5",
    (url: string) => ({ ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: url }),
  ],
  responses: ["openai/gpt-5", (url: string) => ({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: url })],
  "responses package": ["openai/gpt-5", (url: string) => ({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: url })],
  google: ["google/gemini-2.5-flash", google],
  "google package": ["google/gemini-2.5-flash", google],
  bedrock: [
    "amazon-bedrock/amazon.nova-pro-v1:0",
    (url: string) => ({ AWS_REGION: "eu-west-1", AWS_BEARER_TOKEN_BEDROCK: "k", AMAZON_BEDROCK_BASE_URL: url }),
  ],
} as const satisfies Record<string, readonly [string, (url: string) => EnvironmentVariables]>;

export type Way = keyof typeof MODELS;

const FRAMES = "application/vnd.amazon.eventstream";

/** Takes one or more turns of a model whose server sends these responses, repeating the last. */
export async function turns(
  way: Way,
  sent: readonly Sent[],
  prompts = 1,
  more: { tools?: readonly Tool[]; textCalls?: boolean } = {},
) {
  let asked = 0;
  await using server = await serve((request, response) => {
    request.resume();
    const { status = 200, body, cut } = sent[asked++] ?? (sent.at(-1) as Sent);
    response.writeHead(status, {
      "content-type": status !== 200 ? "application/json" : way === "bedrock" ? FRAMES : "text/event-stream",
    });
    response.write(body);
    if (cut) setTimeout(() => response.destroy(), 20);
    else response.end();
  });
  const [name, environment] = MODELS[way];
  const textCalls = more.textCalls === undefined ? {} : { textCalls: more.textCalls };
  const overrides = { [name]: way.endsWith(" package") ? { driver: "package" as const } : textCalls };
  const model = await resolveModel(name, { env: environment(server.baseURL), overrides });
  const session = Session.inMemory();
  const feed: FeedItem[] = [];
  const watching = (async () => {
    for await (const item of session.feed()) feed.push(item);
  })();
  const agent = new Agent({
    model,
    tools: more.tools ?? [],
    retry: { delay: 1, maxDelay: 1, time: 10_000 },
    compaction: false,
  });
  let ended = await agent.send("Hello", { session }).catch((error: TurnError) => error.turn);
  for (let prompt = 1; prompt < prompts; prompt++)
    ended = await agent.send("Again", { session }).catch((error: TurnError) => error.turn);
  await session.close();
  await watching;
  return { ended, asked };
}

export const json = (status: number, body: unknown): Sent => ({ status, body: JSON.stringify(body) });

export const named = (type: string, data: object) => `event: ${type}\n${eventOf({ type, ...data })}`;

export const chat = (...events: readonly (object | string)[]) => ({ body: events.map(eventOf).join("") });

export const messageStart = (usage: object = {}) =>
  named("message_start", {
    message: {
      id: "m",
      type: "message",
      role: "assistant",
      model: "c",
      content: [],
      usage: { input_tokens: 1, output_tokens: 1, ...usage },
    },
  });

export const block = (start: object, ...deltas: readonly object[]) =>
  named("content_block_start", { index: 0, content_block: start }) +
  deltas.map((delta) => named("content_block_delta", { index: 0, delta })).join("") +
  named("content_block_stop", { index: 0 });

export const text = (words: string) => block({ type: "text", text: "" }, { type: "text_delta", text: words });

export const messages = (...events: readonly string[]): Sent => ({ body: events.join("") });

export const gemini = (words: string, more: object = {}) =>
  eventOf({ candidates: [{ content: { role: "model", parts: [{ text: words }] }, ...more }] });
