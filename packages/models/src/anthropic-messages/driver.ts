import type { ModelDriver } from "@banyan/core";
import { refuseUnknown } from "@banyan/core/conversation";
import { rulesFor, withProviderRules } from "@banyan/core/drivers";
import { WIRE_OPTIONS, WireClient, type WireOptions } from "../wire/client.ts";
import { MessagesAnswer } from "./answer.ts";
import { Heads } from "./head.ts";
import { PROVIDER } from "./messages.ts";
import { throughPackage } from "./package.ts";
import { encodeMessages } from "./request.ts";

/**
 * Options of a model on a server with Anthropic's messages format. Sends the key as `x-api-key`. Reads `providerOptions`
 * of a request under the name `anthropic`.
 */
export type AnthropicMessagesOptions = WireOptions;

const PDF_BETA = "pdfs-2024-09-25";

/**
 * A driver for Anthropic's messages format.
 *
 * Encodes messages and decodes answers itself, since each step and token costs time there. The AI SDK's provider package
 * writes the head of requests, which differs between models. It also writes whole requests with rare content, such as
 * tools that Anthropic runs.
 *
 * Loads and opens nothing before the first stream. Has no timeout of its own, since a model may think for long; the
 * caller aborts. Throws `TypeError` if `baseURL` is not an address.
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
    async stream(request, sink, signal) {
      signal.throwIfAborted();
      // Encode before the first await: the list of messages grows later.
      const messages = encodeMessages(request, options.takes);
      if (!messages) {
        const rest = { ...request, messages: [...request.messages] };
        whole ??= throughPackage(options);
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
