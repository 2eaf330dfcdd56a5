import { type ModelDriver, ModelError } from "@banyan/core";
import { modelErrorFromNetwork, modelErrorFromResponse } from "@banyan/core/drivers";
import { isJsonRecord, type JsonRecord, parseJsonText } from "@banyan/core/shown";

/** A provider's endpoint that counts the tokens of a request. The model does not answer the request. */
export interface CountEndpoint {
  /** Returns the address of the endpoint for the address of a usual request. */
  address(request: string): string;
  /** Returns the body for the body of a usual request. */
  body(request: JsonRecord): unknown;
  /** The field of the answer that contains the number. */
  readonly field: string;
}

/** https://docs.claude.com/en/api/messages-count-tokens, which refuses all other fields. */
const ANTHROPIC_FIELDS = [
  "model",
  "messages",
  "system",
  "tools",
  "tool_choice",
  "thinking",
  "output_config",
  "context_management",
  "mcp_servers",
];

export const ANTHROPIC_COUNT: CountEndpoint = {
  address: (request) => withPath(request, (path) => `${path}/count_tokens`),
  body: (request) => pickFields(request, ANTHROPIC_FIELDS),
  field: "input_tokens",
};

/** https://platform.openai.com/docs/api-reference/responses/input-tokens, which refuses all other fields. */
const RESPONSES_FIELDS = [
  ...["model", "input", "tools", "tool_choice", "text", "reasoning", "instructions", "truncation"],
  ...["parallel_tool_calls", "conversation", "previous_response_id"],
];

export const RESPONSES_COUNT: CountEndpoint = {
  address: (request) => withPath(request, (path) => `${path}/input_tokens`),
  body: (request) => pickFields(request, RESPONSES_FIELDS),
  field: "input_tokens",
};

/** https://ai.google.dev/api/tokens */
export function googleCount(model: string): CountEndpoint {
  return {
    address: (request) => withPath(request, (path) => path.replace(/:\w+$/, ":countTokens")),
    body: (request) => ({
      generateContentRequest: { model: model.includes("/") ? model : `models/${model}`, ...request },
    }),
    field: "totalTokens",
  };
}

/** Changes the path of an address. A gateway's query stays, and only the format of streams is left out. */
function withPath(address: string, change: (path: string) => string): string {
  const url = new URL(address);
  url.pathname = change(url.pathname);
  url.searchParams.delete("alt");
  return url.href;
}

function pickFields(request: JsonRecord, names: readonly string[]): JsonRecord {
  return Object.fromEntries(names.flatMap((name) => (name in request ? [[name, request[name]]] : [])));
}

interface WrittenRequest {
  readonly address: string;
  readonly headers: Headers;
  readonly body: JsonRecord;
}

/**
 * Makes the method `countTokens` of a driver. The provider's package writes the usual request. The request goes to the
 * counting endpoint instead of the model. `open` makes the driver over the package with a `fetch`.
 */
export function countAtEndpoint(
  { id, address }: Pick<ModelDriver, "id" | "address">,
  endpoint: CountEndpoint,
  fetch: typeof globalThis.fetch,
  open: (fetch: typeof globalThis.fetch) => ModelDriver | Promise<ModelDriver>,
): NonNullable<ModelDriver["countTokens"]> {
  return async (request, signal) => {
    let written: WrittenRequest | undefined;
    const driver = await open(async (address, { headers, body } = {}) => {
      const content = parseJsonText(String(body));
      if (isJsonRecord(content)) written = { address: String(address), headers: new Headers(headers), body: content };
      return new Response("", { headers: { "content-type": "text/event-stream" } });
    });
    const nowhere = { push: () => true, ready: async () => {} };
    const error = await driver.stream(request, nowhere, signal).catch((error: unknown) => error);
    signal.throwIfAborted();
    if (!written)
      throw (
        error ??
        new ModelError("provider", `The provider package of ${id} sent no request, so Banyan cannot count its tokens.`)
      );
    const { headers } = written;
    headers.set("content-type", "application/json");
    headers.set("accept", "application/json");
    const body = JSON.stringify(endpoint.body(written.body));
    const sent = { method: "POST", headers, body, signal };
    const response = await fetch(endpoint.address(written.address), sent).catch((error: unknown) => {
      signal.throwIfAborted();
      throw modelErrorFromNetwork(error, address) ?? error;
    });
    const text = await response.text();
    if (!response.ok) throw modelErrorFromResponse({ status: response.status, body: text, address, model: id });
    const answer = parseJsonText(text);
    const tokens = isJsonRecord(answer) ? answer[endpoint.field] : undefined;
    if (typeof tokens === "number") return tokens;
    throw new ModelError("provider", `The answer of ${address} has no number in the field "${endpoint.field}".`);
  };
}
