import type { ModelDriver } from "@banyan/core";
import { refuseUnknown } from "@banyan/core/conversation";
import { rulesFor, withProviderRules } from "@banyan/core/drivers";
import { ANTHROPIC_COUNT, countAtEndpoint } from "../provider/count-tokens.ts";
import { WIRE_OPTIONS, WireClient, type WireOptions } from "../wire/client.ts";
import { modelFetch } from "../wire/fetch.ts";
import { MessagesAnswer } from "./answer.ts";
import { Heads } from "./head.ts";
import { PROVIDER } from "./messages.ts";
import { encodeMessages } from "./request.ts";

/**
 * Options of a model on a server with Anthropic's Messages API. The key is sent as `x-api-key`. Requests may have
 * `providerOptions.anthropic`. See {@link anthropicMessages}.
 */
export type AnthropicMessagesOptions = WireOptions;

const PDF_BETA = "pdfs-2024-09-25";

/**
 * Creates a driver for Anthropic's Messages API. For speed, the driver itself encodes and decodes messages. The AI
 * SDK's provider package writes requests with rare settings or content. The driver loads and opens nothing before the
 * first request. It has no timeout, because a model may think for long: the caller must abort. Throws `OptionError` if
 * `baseURL` is not an address.
 * @example
 * const model = anthropicMessages({ id: "anthropic/claude", model: "claude-sonnet-4-5", baseURL: "http://127.0.0.1:8080/v1" });
 */
export function anthropicMessages(options: AnthropicMessagesOptions): ModelDriver {
  refuseUnknown("anthropicMessages", options, WIRE_OPTIONS);
  const client = new WireClient(options, {
    name: "Anthropic messages",
    path: "/messages",
    headers: { "anthropic-version": "2023-06-01", ...(options.apiKey ? { "x-api-key": options.apiKey } : {}) },
  });
  const heads = new Heads(options);
  let whole: Promise<ModelDriver> | undefined;
  const driver: ModelDriver = {
    ...client.facts,
    family: "anthropic-messages",
    countTokens: countAtEndpoint(client.facts, ANTHROPIC_COUNT, modelFetch(options), async (fetch) =>
      (await import("./package.ts")).throughPackage(options, fetch),
    ),
    async stream(request, sink, signal) {
      signal.throwIfAborted();
      // Encode before the first await: the list of messages grows later.
      const messages = encodeMessages(request, options.takes);
      if (!messages) {
        const rest = { ...request, messages: [...request.messages] };
        whole ??= import("./package.ts").then(({ throughPackage }) => throughPackage(options));
        return (await whole).stream(rest, sink, signal);
      }
      const head = await heads.of(request);
      const betas = [head.betas, messages.pdf ? PDF_BETA : ""].filter((beta) => beta !== "").join(",");
      await client.send(
        { of: request.messages, before: `${head.text},"messages":[`, pieces: messages.pieces, after: "]}" },
        new MessagesAnswer(client.endpoint),
        sink,
        signal,
        betas === "" ? undefined : { "anthropic-beta": betas },
      );
    },
  };
  const rules = rulesFor("anthropic.messages", options.model);
  return Object.freeze(withProviderRules(driver, { rules, provider: PROVIDER, takes: options.takes }));
}
