import type { EmbeddingModelV4, LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { type OptionNames, refuseUnknown } from "../conversation/option-names.ts";
import type { Price } from "../conversation/usage.ts";
import { PDF, PICTURES } from "../model/result-shown.ts";
import { withProviderRules } from "../model/rules/driver.ts";
import { rulesFor } from "../model/rules/providers.ts";
import type { ModelDriver, ModelSettings } from "../ports/model.ts";
import type { PromptTarget } from "./prompt.ts";

/** A request in the format of the AI SDK's provider packages. See {@link LanguageModelOptions}. */
export type LanguageModelRequest = LanguageModelV4CallOptions;

/** A model of the AI SDK's provider packages that turns texts into vectors. See {@link embeddingModel}. */
export type EmbeddingModel = EmbeddingModelV4;

/**
 * Options of `fromLanguageModel`.
 * @example
 * fromLanguageModel(languageModel, {
 *   id: "house/model",
 *   price: { input: 1, output: 4 },
 *   contextSize: 128_000,
 *   address: "https://api.example.com/v1",
 *   settings: { temperature: 0 },
 *   takes: ["image/png", "application/pdf"],
 *   showsLife: false,
 *   adapt: (request) => ({ ...request, headers: { ...request.headers, "x-team": "forest" } }),
 * });
 */
export interface LanguageModelOptions {
  /** The id `provider/model`. Default: made from the model's own names. */
  readonly id?: string | undefined;
  readonly price?: Price | undefined;
  /** Maximum tokens of a request and its response together. */
  readonly contextSize?: number | undefined;
  /** Address to which requests are sent; see `ModelDriver.address`. */
  readonly address?: string | undefined;
  /** Default settings, which an agent's settings override. */
  readonly settings?: ModelSettings | undefined;
  /**
   * Media types of files that the model accepts in results; empty: none. Default: the types that the provider accepts
   * there, or images for an unknown provider.
   */
  readonly takes?: readonly string[] | undefined;
  /**
   * True if the model itself pushes an empty batch for data of the provider that contains no part. Default `false`: the
   * package is asked for raw events, and each raw event counts as a sign of life.
   */
  readonly showsLife?: boolean | undefined;
  /**
   * Changes each request just before it is sent, such as for cache marks of the provider. Return a new object: requests
   * share objects. The same request must give the same result.
   */
  adapt?(request: LanguageModelRequest): LanguageModelRequest;
}

const OPTIONS: OptionNames<LanguageModelOptions> = {
  id: true,
  price: true,
  contextSize: true,
  address: true,
  settings: true,
  takes: true,
  showsLife: true,
  adapt: true,
};

/**
 * Makes a driver from a language model of the AI SDK (`LanguageModelV4` of `@ai-sdk/provider`). Keeps reasoning
 * signatures and item ids with their parts, and sends them back to the provider. Keeps calls of tools that the provider
 * runs itself, with their results, as parts of the message. @throws TypeError if the model has another version of the
 * interface.
 * @example const agent = new Agent({ model: fromLanguageModel(languageModel, { contextSize: 128_000 }) });
 */
export function fromLanguageModel(model: LanguageModelV4, options: LanguageModelOptions = {}): ModelDriver {
  if (!isLanguageModel(model)) throw new TypeError(notALanguageModel(model));
  refuseUnknown("fromLanguageModel", options, OPTIONS);
  const provider = model.provider.split(".", 1)[0] ?? model.provider;
  const id = options.id ?? `${provider}/${model.modelId}`;
  const asked = { provider, ...filesOfResults(model.provider, options.takes) };
  const adapt = options.adapt ?? ((request) => request);
  // Loaded with the first request: agents with Banyan's own drivers need no code for the AI SDK.
  let wire: typeof import("./wire.ts") | undefined;
  const driver: ModelDriver = {
    id,
    family: "language-model",
    ...(options.price && { price: options.price }),
    ...(options.contextSize !== undefined && { contextSize: options.contextSize }),
    ...(options.address !== undefined && { address: options.address }),
    ...(options.settings && { settings: options.settings }),
    stream: async (given, sink, signal) => {
      signal.throwIfAborted();
      let request = given;
      if (!wire) {
        // Copied before the first await, because the list of messages grows later.
        request = { ...given, messages: [...given.messages] };
        wire = await import("./wire.ts");
        signal.throwIfAborted();
      }
      await wire.streamRequest(model, { id, asked, showsLife: options.showsLife, adapt }, request, sink, signal);
    },
  };
  const { takes } = asked;
  return withProviderRules(driver, { rules: rulesFor(model.provider, model.modelId), provider, takes, model });
}

/** True for a model that `fromLanguageModel` accepts. */
export function isLanguageModel(value: unknown): value is LanguageModelV4 {
  return (
    typeof value === "object" &&
    value !== null &&
    "specificationVersion" in value &&
    value.specificationVersion === "v4" &&
    "doStream" in value &&
    typeof value.doStream === "function"
  );
}

/** Returns the reason why `fromLanguageModel` rejects a value, with advice. */
export function notALanguageModel(value: unknown): string {
  const generation =
    typeof value === "object" && value !== null && "specificationVersion" in value
      ? value.specificationVersion
      : undefined;
  return generation === undefined
    ? "This value is not a language model of an AI SDK provider package. Pass a model that such a package creates, such as anthropic('name')."
    : `This model implements version ${String(generation)} of the AI SDK's model interface, but v4 is required. Update the package of the model.`;
}

/** Providers whose packages support files in results, by provider name, with the accepted media types. */
const WITHIN: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^(?:openai|azure)[\w-]*\.responses/, [...PICTURES, PDF]],
  [/anthropic/, [...PICTURES, PDF]],
  [/^google/, ["image/png", "image/jpeg", "image/webp", PDF, "audio/*"]],
  [/^amazon-bedrock/, [...PICTURES, PDF]],
  [/^xai\.responses/, ["image/png", "image/jpeg"]],
];

function filesOfResults(name: string, takes?: readonly string[]): Pick<PromptTarget, "takes" | "isWithin"> {
  const within = WITHIN.find(([form]) => form.test(name))?.[1];
  return { takes: takes ?? within ?? PICTURES, isWithin: within !== undefined };
}
