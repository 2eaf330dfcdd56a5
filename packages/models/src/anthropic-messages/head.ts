import { ModelError, type ModelSettings } from "@banyan/core";
import type { ModelRequest } from "@banyan/core/drivers";
import type { WireOptions } from "../wire/client.ts";
import { plainHead } from "./plain-head.ts";

/** All fields of a request in Anthropic's format except `messages`. */
export interface RequestHead {
  /** A JSON object as text, without its closing brace. */
  readonly text: string;
  /** The Anthropic betas that the request needs, separated by commas. */
  readonly betas: string;
}

interface KnownHead extends Pick<ModelRequest, "instructions" | "tools" | "toolChoice" | "output"> {
  readonly head: Promise<RequestHead>;
}

/** Maximum number of heads kept for the same settings. */
const KEPT = 8;

/**
 * Makes the head of a request: all its fields except the messages. For unusual settings, the AI SDK's package makes the
 * head, because it knows each model's features. The package then writes a request without messages, which is not sent.
 * The result is kept for later steps.
 */
export class Heads {
  readonly #options: WireOptions;
  readonly #known = new WeakMap<ModelSettings, KnownHead[]>();

  constructor(options: WireOptions) {
    this.#options = options;
  }

  /** Rejects with `ModelError` if the package refuses the settings. */
  of({ settings, instructions, tools, toolChoice, output }: ModelRequest): Promise<RequestHead> {
    let heads = this.#known.get(settings);
    if (!heads) {
      heads = [];
      this.#known.set(settings, heads);
    }
    const known = heads.find(
      (one) =>
        one.tools === tools &&
        one.toolChoice === toolChoice &&
        one.instructions === instructions &&
        one.output === output,
    );
    if (known) return known.head;
    const head = encodeHead(this.#options, { settings, instructions, tools, toolChoice, output, messages: [] });
    heads.push({ instructions, tools, toolChoice, output, head });
    if (heads.length > KEPT) heads.shift();
    return head;
  }
}

async function encodeHead(options: WireOptions, request: ModelRequest): Promise<RequestHead> {
  const plain = plainHead(options.model, request);
  if (plain) {
    const asked = new Headers(options.headers).get("anthropic-beta");
    const betas = [...(asked ? [asked] : []), ...plain.betas].join(",");
    return { text: JSON.stringify(plain.fields).slice(0, -1), betas };
  }
  const { throughPackage } = await import("./package.ts");
  let caught: RequestHead | undefined;
  const model = await throughPackage(options, async (_, { headers, body } = {}) => {
    const { messages: _messages, ...head } = JSON.parse(String(body));
    caught = { text: JSON.stringify(head).slice(0, -1), betas: new Headers(headers).get("anthropic-beta") ?? "" };
    // With an empty response, the package reports the settings that the model lacks.
    return new Response("", { headers: { "content-type": "text/event-stream" } });
  });
  const nowhere = { push: () => true, ready: async () => {} };
  const error = await model.stream(request, nowhere, new AbortController().signal).catch((error: unknown) => error);
  if (caught && error instanceof ModelError && error.code === "broken-stream") return caught;
  throw error;
}
