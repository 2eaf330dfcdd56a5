import type { ModelDriver } from "@banyan/core";
import { OptionError, type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { rulesFor, type ToolSchema, withProviderRules } from "@banyan/core/drivers";
import { countAtEndpoint, RESPONSES_COUNT } from "../provider/count-tokens.ts";
import { WIRE_OPTIONS, WireClient, type WireOptions } from "../wire/client.ts";
import { modelFetch } from "../wire/fetch.ts";
import { isOpenAI } from "../wire/openai-address.ts";
import { withFetch } from "../wire/pool.ts";
import { ResponsesAnswer } from "./answer.ts";
import { openAITraits, xaiTraits } from "./model-traits.ts";
import { type ResponsesProvider, TAKEN } from "./provider.ts";
import { ResponsesEncoder } from "./request.ts";

/**
 * Options of a model on a server with OpenAI's Responses API. The key is sent as a bearer token, at Azure as `api-key`.
 * @example
 * openAIResponses({
 *   id: "gateway/gpt",
 *   model: "gpt-5.4",
 *   baseURL: "https://gateway.example.org/v1",
 *   provider: "openai",
 * });
 */
export interface OpenAIResponsesOptions extends WireOptions {
  /**
   * The provider whose form of the API the server has. Requests use this provider's `providerOptions` and server tools.
   * Default `openai`.
   */
  readonly provider?: ResponsesProvider;
}

const OPTIONS: OptionNames<OpenAIResponsesOptions> = { ...WIRE_OPTIONS, provider: true };

/**
 * Creates a driver for OpenAI's Responses API, which Azure and xAI offer too. The server stores nothing, unless
 * `providerOptions` say so. The driver loads and opens nothing before the first request. It has no timeout, since a
 * model may think for long: the caller must abort. Throws `TypeError` if `baseURL` is not an address.
 * @example const model = openAIResponses({ id: "openai/gpt", model: "gpt-5.4", baseURL: "http://127.0.0.1:8080/v1" });
 */
export function openAIResponses(options: OpenAIResponsesOptions): ModelDriver {
  refuseUnknown("openAIResponses", options, OPTIONS);
  const { provider = "openai", model, apiKey } = options;
  if (!Object.hasOwn(TAKEN, provider))
    throw new OptionError('provider of openAIResponses must be "openai", "azure" or "xai".');
  const takes = options.takes ?? TAKEN[provider];
  const client = new WireClient(options, {
    name: "responses",
    path: "/responses",
    headers: apiKey ? keyHeader(provider, apiKey) : {},
  });
  const url = new URL(options.baseURL);
  // Other servers of the format may not know all of its fields and endpoints.
  const isOwn = isOpenAI(options.baseURL);
  const encoder = new ResponsesEncoder({
    id: options.id,
    model,
    provider,
    takes,
    traits: provider === "xai" ? xaiTraits(model) : openAITraits(model),
    isOpenAI: isOwn,
    // Projects of Azure's Foundry.
    needsType: url.hostname.endsWith(".services.ai.azure.com") && url.pathname.startsWith("/api/projects/"),
  });
  const driver: ModelDriver = {
    ...client.facts,
    family: "openai-responses",
    ...(isOwn
      ? {
          countTokens: countAtEndpoint(client.facts, RESPONSES_COUNT, modelFetch(options), (fetch) =>
            openAIResponses(withFetch(options, fetch)),
          ),
        }
      : {}),
    async stream(request, sink, signal) {
      signal.throwIfAborted();
      // Encode before the first await: the list of messages grows later.
      const { body, hosted } = encoder.encode(request);
      const answer = new ResponsesAnswer(client.endpoint, { provider, offered: offeredTools(request.tools), hosted });
      await client.send(body, answer, sink, signal);
    },
  };
  const rules = rulesFor(`${provider}.responses`, model);
  return Object.freeze(withProviderRules(driver, { rules, provider, takes, parameters: ["stream_options"] }));
}

function keyHeader(provider: ResponsesProvider, key: string): Readonly<Record<string, string>> {
  return provider === "azure" ? { "api-key": key } : { authorization: `Bearer ${key}` };
}

const names = new WeakMap<readonly ToolSchema[], ReadonlySet<string>>();

function offeredTools(tools: readonly ToolSchema[]): ReadonlySet<string> {
  let known = names.get(tools);
  if (!known) {
    known = new Set(tools.map(({ name }) => name));
    names.set(tools, known);
  }
  return known;
}
