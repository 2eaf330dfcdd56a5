import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { ModelRequest, ModelSink } from "../ports/model.ts";
import { asModelError } from "./error.ts";
import { withCacheKey, withOwnStorage } from "./own-storage.ts";
import { callOptions, demandedSettings, type PromptTarget } from "./prompt.ts";
import { readStreamInto } from "./pump.ts";
import { ResponseParts } from "./response-parts.ts";

/** The facts that a driver needs besides the language model. */
interface WireTarget {
  /** `provider/model`, for errors. */
  readonly id: string;
  readonly asked: PromptTarget;
  /** See `LanguageModelOptions`. */
  readonly showsLife: boolean | undefined;
  readonly adapt: (request: LanguageModelV4CallOptions) => LanguageModelV4CallOptions;
}

/** Sends a request to a language model of the AI SDK, and reads the response into a sink. Rejects with `ModelError`. */
export async function streamRequest(
  model: LanguageModelV4,
  { id, asked, showsLife, adapt }: WireTarget,
  given: ModelRequest,
  sink: ModelSink,
  signal: AbortSignal,
): Promise<void> {
  const own = withOwnStorage(callOptions(given, asked), model.provider);
  const adapted = adapt(withCacheKey(own, model.provider, given.settings.cacheKey));
  const request = showsLife ? adapted : { ...adapted, includeRawChunks: true };
  const interruption = Promise.withResolvers<never>();
  const interrupt = () => interruption.reject(signal.reason);
  signal.addEventListener("abort", interrupt, { once: true });
  // Nothing may wait for this promise when the signal aborts.
  interruption.promise.catch(() => {});
  try {
    const response = Promise.resolve(model.doStream({ ...request, abortSignal: signal }));
    const { stream } = await Promise.race([response, interruption.promise]).catch((error) => {
      // A model that ignores the signal may still respond.
      if (signal.aborted) response.then((late) => late.stream.cancel(signal.reason)).catch(() => {});
      throw error;
    });
    await readStreamInto(
      stream,
      new ResponseParts(model.modelId, asked.provider, id, model.provider, demandedSettings(request)),
      sink,
      signal,
      interruption.promise,
    );
  } catch (error) {
    signal.throwIfAborted();
    throw asModelError(error, id);
  } finally {
    signal.removeEventListener("abort", interrupt);
  }
}
