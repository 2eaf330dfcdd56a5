import type { ModelDriver } from "@banyan/core";
import { refuseUnknown } from "@banyan/core/conversation";
import { rulesFor, withRules } from "@banyan/core/drivers";
import { WIRE_OPTIONS, WireClient, type WireOptions } from "../wire/client.ts";
import { MessagesAnswer } from "./answer.ts";
import { Heads } from "./head.ts";
import { PROVIDER } from "./messages.ts";
import { throughPackage } from "./package.ts";
import { encodeMessages } from "./request.ts";

/**
 * A model of a server that speaks Anthropic's messages format. The key is sent as `x-api-key`. `providerOptions` of a
 * request are read under the name `anthropic`.
 */
export type AnthropicMessagesOptions = WireOptions;

const PDF_BETA = "pdfs-2024-09-25";

/**
 * A driver for Anthropic's messages format.
 *
 * It encodes the messages and decodes the answers, which is what each step and each token costs. The rest, which changes
 * from model to model, is left to the provider package of the AI SDK: it writes the head of the requests, and serves
 * those requests as a whole that need more than text, reasoning, calls and files: tools that Anthropic runs, and its
 * rarer options.
 *
 * Nothing is loaded or opened before the first stream. It sets no time limit of its own: a model may think for long, and
 * whoever waits aborts. Throws `TypeError` when `baseURL` is not an address.
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
      // Before the first wait: the list of messages grows later.
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
  return Object.freeze(withRules(driver, { rules, provider: PROVIDER, takes: options.takes }));
}
