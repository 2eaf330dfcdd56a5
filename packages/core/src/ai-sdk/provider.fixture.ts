import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { ModelDriver, ModelPart, ModelRequest, ModelSink } from "../ports/model.ts";
import { fromLanguageModel } from "./language-model.ts";
import { streamOf } from "./stream-of.fixture.ts";

type Stream = (options: LanguageModelV4CallOptions) => ReadableStream<LanguageModelV4StreamPart>;

/** A provider's model that answers with a stream and records its requests. */
export function model(stream: Stream): LanguageModelV4 & { readonly asked: LanguageModelV4CallOptions[] } {
  const asked: LanguageModelV4CallOptions[] = [];
  return {
    asked,
    specificationVersion: "v4",
    provider: "acme.chat",
    modelId: "large",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("not asked for")),
    doStream: async (options) => {
      asked.push(options);
      return { stream: stream(options) };
    },
  };
}

const usage = {
  inputTokens: { total: 10, noCache: 5, cacheRead: 3, cacheWrite: 2 },
  outputTokens: { total: 7, text: 4, reasoning: 3 },
};
const counted = { input: 10, cached: 3, cacheWrite: 2, output: 7, reasoning: 3 };

/** The end of a provider's answer. */
export const finish = {
  type: "finish",
  usage,
  finishReason: { unified: "stop", raw: "stop" },
} satisfies LanguageModelV4StreamPart;

/** The same end as a driver reports it. */
export const end: ModelPart = { type: "finish", reason: "stop", usage: counted };

export const request: ModelRequest = {
  instructions: "",
  messages: [{ role: "user", parts: [{ type: "text", text: "hello" }] }],
  tools: [],
  toolChoice: "auto",
  settings: {},
};

/** Records the batches of an answer. */
export class Recorder implements ModelSink {
  readonly batches: (readonly ModelPart[])[] = [];

  get parts(): ModelPart[] {
    return this.batches.flat();
  }

  push(parts: readonly ModelPart[]): boolean {
    this.batches.push(parts);
    return true;
  }

  ready(): Promise<void> {
    return Promise.resolve();
  }
}

/** A signal that never aborts. */
export const never = () => new AbortController().signal;

/** Returns the parts that a driver makes of a provider's stream. */
export async function responseTo(parts: readonly LanguageModelV4StreamPart[], asked = request): Promise<ModelPart[]> {
  const sink = new Recorder();
  await fromLanguageModel(model(() => streamOf(parts))).stream(asked, sink, never());
  return sink.parts;
}

/** Returns the error of a failing driver. */
export async function failure(
  driver: ModelDriver,
  sink: ModelSink = new Recorder(),
  signal = never(),
): Promise<unknown> {
  try {
    await driver.stream(request, sink, signal);
  } catch (error) {
    return error;
  }
  throw new Error("it did not fail");
}

/** Returns the driver's error for a provider's stream. */
export const failureOf = (parts: readonly LanguageModelV4StreamPart[], sink?: ModelSink) =>
  failure(fromLanguageModel(model(() => streamOf(parts))), sink);

/** Returns the driver's error for an exception of a provider. */
export const throwing = (thrown: unknown) =>
  failure(fromLanguageModel({ ...model(() => streamOf([])), doStream: () => Promise.reject(thrown) }));
