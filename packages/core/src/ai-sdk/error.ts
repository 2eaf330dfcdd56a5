import { modelErrorFromNetwork, modelErrorFromResponse } from "../model/model-error.ts";
import { ModelError } from "../ports/model.ts";

/** An error that a provider reported inside its stream. */
export class ProviderReport extends Error {
  override readonly name = "ProviderReport";

  constructor(reported: unknown) {
    super("The provider reported an error in its answer.", { cause: reported });
  }
}

/** True if a package rejected an empty chunk of the chat completions API: its `choices` are empty or `null`. */
export function isEmptyChunk(thrown: unknown): boolean {
  if (!(thrown instanceof Error) || thrown.name !== "AI_TypeValidationError" || !("value" in thrown)) return false;
  const { value } = thrown;
  if (typeof value !== "object" || value === null || !("choices" in value) || "error" in value) return false;
  return value.choices === null || (Array.isArray(value.choices) && value.choices.length === 0);
}

/** Converts an error of an AI SDK package to a `ModelError`. Recognizes an error by the name of its class. */
export function asModelError(thrown: unknown, model: string): ModelError {
  const own = ownErrorIn(thrown);
  if (own) return own;
  if (thrown instanceof ProviderReport) return fromReport(thrown.cause, model);
  if (!(thrown instanceof Error)) return fromReport(thrown, model);
  const fail = (code: ModelError["code"], sentence: string) => new ModelError(code, sentence, { cause: thrown });
  switch (thrown.name) {
    case "AI_APICallError":
      return fromCall(thrown, model);
    case "AI_LoadAPIKeyError":
      return fail("authentication", `No API key is set for the model ${model}; set a key (${thrown.message})`);
    case "AI_NoSuchModelError":
      return fail(
        "unknown-model",
        `The provider package does not know the model ${model}; check the model's name (${thrown.message})`,
      );
    case "AI_LoadSettingError":
    case "AI_InvalidArgumentError":
    case "AI_InvalidPromptError":
    case "AI_UnsupportedFunctionalityError":
      return fail("invalid-request", `The model ${model} rejected the request; change the request (${thrown.message})`);
    case "AI_JSONParseError":
    case "AI_EmptyResponseBodyError":
    case "AI_InvalidResponseDataError":
    case "AI_TypeValidationError":
    // The message of such an error is about the package's own code.
    case "TypeError":
    case "ReferenceError":
      return modelErrorFromNetwork(thrown) ?? damaged(thrown, model);
    case "RangeError":
      if (!/call stack/i.test(thrown.message)) return unknownModelError(thrown, model);
      return new ModelError("provider", `The answer of the model ${model} is nested too deep to be read.`, {
        cause: thrown,
        retryable: false,
      });
    default:
      return modelErrorFromNetwork(thrown) ?? unknownModelError(thrown, model);
  }
}

function ownErrorIn(thrown: unknown): ModelError | undefined {
  let error = thrown;
  for (let depth = 0; depth < 5 && error instanceof Error; depth++) {
    if (error instanceof ModelError) return error;
    error = error.cause;
  }
  return undefined;
}

/** Converts an `APICallError`: a status outside 2xx, an unreadable response, or no response. */
function fromCall(error: Error, model: string): ModelError {
  const { url, statusCode, responseHeaders, responseBody, data } = error as Error & {
    readonly url?: string;
    readonly statusCode?: number;
    readonly responseHeaders?: Readonly<Record<string, string>>;
    readonly responseBody?: string;
    readonly data?: unknown;
  };
  const network = modelErrorFromNetwork(error, url);
  if (network) return network;
  if (statusCode !== undefined && statusCode < 400) return damaged(error, model);
  return modelErrorFromResponse({
    ...(statusCode !== undefined && { status: statusCode }),
    headers: (name) => responseHeaders?.[name],
    body: responseBody || data || error.message,
    ...(url && { address: url }),
    model,
  });
}

function damaged(cause: Error, model: string): ModelError {
  const isForCode = /^(AI_TypeValidationError|AI_JSONParseError|TypeError|ReferenceError)$/.test(cause.name);
  const words = isForCode ? "the answer has an invalid format" : cause.message;
  const said = { fact: `The answer of the model ${model} is damaged`, advice: "try again", words };
  return new ModelError("broken-stream", said, { cause, detail: cause.message, paid: true });
}

function unknownModelError(cause: Error, model: string): ModelError {
  const said = { fact: `The model ${model} failed to answer`, advice: "try again later", words: cause.message };
  return new ModelError("provider", said, { cause });
}

function fromReport(reported: unknown, model: string): ModelError {
  if (reported instanceof Error) return asModelError(reported, model);
  const status =
    typeof reported === "object" &&
    reported !== null &&
    "statusCode" in reported &&
    typeof reported.statusCode === "number"
      ? reported.statusCode
      : undefined;
  return modelErrorFromResponse({ ...(status !== undefined && { status }), body: reported, model });
}
