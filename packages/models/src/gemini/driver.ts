import type { ModelDriver } from "@banyan/core";
import { PDF, rulesFor, withProviderRules } from "@banyan/core/drivers";
import { countAtEndpoint, googleCount } from "../provider/count-tokens.ts";
import { WireClient, type WireOptions } from "../wire/client.ts";
import { modelFetch } from "../wire/fetch.ts";
import { withFetch } from "../wire/pool.ts";
import { GeminiAnswer } from "./answer.ts";
import { PROVIDER } from "./messages.ts";
import { continuedBody, encodeGeminiRequest, googleOptions, requestShape } from "./request.ts";

/** Default media types of files in tool results. */
const TAKEN: readonly string[] = ["image/png", "image/jpeg", "image/webp", PDF, "audio/*"];

/**
 * Creates a driver for Gemini's API. The key is sent as `x-goog-api-key`. Requests may have `providerOptions.google`.
 * The driver loads and opens nothing before the first request. It has no timeout, since a model may think for long: the
 * caller must abort. Throws `TypeError` if `baseURL` is not an address.
 */
export function geminiContent(options: WireOptions): ModelDriver {
  const { model, takes = TAKEN } = options;
  const address = URL.parse(options.baseURL);
  address?.searchParams.set("alt", "sse");
  const client = new WireClient(
    { ...options, baseURL: address?.href ?? options.baseURL },
    {
      name: "Gemini",
      path: `/${model.includes("/") ? model : `models/${model}`}:streamGenerateContent`,
      headers: options.apiKey ? { "x-goog-api-key": options.apiKey } : {},
    },
  );
  const shape = requestShape(model, takes);
  const driver: ModelDriver = {
    ...client.facts,
    family: "gemini",
    countTokens: countAtEndpoint(client.facts, googleCount(model), modelFetch(options), (fetch) =>
      geminiContent(withFetch(options, fetch)),
    ),
    async stream(request, sink, signal) {
      signal.throwIfAborted();
      // Encode before the first await: the list of messages grows later.
      const body = encodeGeminiRequest(shape, request);
      const { serverTools = [] } = request.settings;
      const codeTool = serverTools.find(({ id }) => id === "google.code_execution")?.name;
      const answer = new GeminiAnswer(client.endpoint, codeTool);
      let { continuationToken: token } = googleOptions(request.settings);
      do {
        answer.continue();
        await client.send(typeof token === "string" ? continuedBody(body, token) : body, answer, sink, signal);
        token = answer.continuation;
      } while (token !== undefined);
    },
  };
  const rules = rulesFor("google.generative-ai", model);
  return Object.freeze(withProviderRules(driver, { rules, provider: PROVIDER, takes }));
}
