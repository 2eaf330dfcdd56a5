import { ModelError } from "@banyan/core";
import { isTooDeep, modelErrorFromNetwork, modelErrorFromResponse } from "@banyan/core/drivers";
import { errorMessage, isJsonRecord, type JsonRecord } from "@banyan/core/shown";

/** The endpoint of a request, for error messages. */
export interface Endpoint {
  /** `provider/model`. */
  readonly id: string;
  readonly model: string;
  readonly format: string;
  /** The base address, without credentials and query. */
  readonly address: string;
  /** The environment variable of the key. */
  readonly keyVariable: string | undefined;
  /** Texts that errors must hide: the key, and values of custom headers. */
  readonly secrets: readonly string[];
}

export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Makes the error of an answer with an HTTP status other than 2xx. */
export function errorOfStatus(endpoint: Endpoint, status: number, headers: ResponseHeaders, body: string): ModelError {
  const header = (name: string): string | undefined => {
    const value = headers[name];
    return typeof value === "string" ? value : value?.[0];
  };
  return responseError(endpoint, redact(endpoint, body), status, header);
}

/** Makes the error that a server reports inside an answer with HTTP status 2xx. */
export function errorInAnswer(endpoint: Endpoint, error: unknown): ModelError {
  // Some gateways put the provider's status into `code`.
  const code = isJsonRecord(error) ? Number(error.code) : Number.NaN;
  const body = redact(endpoint, JSON.stringify({ error }));
  return responseError(endpoint, body, code >= 400 && code < 600 ? code : undefined);
}

/** Returns the error in an event, from any field in which servers put errors. `isPart`: the event also has content. */
export function errorIn(event: JsonRecord, isPart: boolean): unknown {
  if (event.error) return event.error;
  if (event.object === "error" || event.type === "error") return event;
  if (isJsonRecord(event.response) && event.response.error) return event.response.error;
  return !isPart && (saysSomething(event.message) || saysSomething(event.detail)) ? event : undefined;
}

function saysSomething(value: unknown): boolean {
  return (typeof value === "string" && value !== "") || (typeof value === "object" && value !== null);
}

/** Makes the error of a connection that failed. `sent`: it failed after the request was sent. */
export function errorOfConnection(endpoint: Endpoint, cause: unknown, sent: boolean): ModelError {
  // An own `fetch` may say exactly what is wrong.
  if (cause instanceof ModelError) return cause;
  const known = modelErrorFromNetwork(cause, endpoint.address);
  if (known) return known;
  const why = redact(endpoint, errorMessage(cause));
  if (isInvalidArgument(cause)) {
    return new ModelError(
      "invalid-request",
      `The request to ${endpoint.address} is invalid; check the API key and the headers (${why})`,
    );
  }
  const said = sent
    ? { fact: `${endpoint.address} broke off its answer`, advice: "try again" }
    : { fact: `${endpoint.address} cannot be reached`, advice: "check the address and the network" };
  return new ModelError(sent ? "broken-stream" : "unreachable", { ...said, words: why }, { cause });
}

/** Makes the error of an answer that ended before it was complete. */
export function errorOfEnd(endpoint: Endpoint): ModelError {
  const said = { fact: `${endpoint.address} ended the answer before it was complete`, advice: "try again" };
  return new ModelError("broken-stream", said);
}

/** Parses an event's data as a JSON object. Throws `ModelError` (`broken-stream`) for any other data. */
export function parseEvent(endpoint: Endpoint, data: string): Readonly<Record<string, unknown>> {
  if (isTooDeep(data)) throw errorOfDepth(endpoint.address);
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch (cause) {
    throw malformedAnswer(endpoint, "is not JSON", data, cause);
  }
  if (!isJsonRecord(value)) throw malformedAnswer(endpoint, "is not an object", data);
  return value;
}

function malformedAnswer(endpoint: Endpoint, what: string, data: string, cause?: unknown): ModelError {
  const begin = data.length > 80 ? `${data.slice(0, 80)}...` : data;
  const fact = `${endpoint.address} sent part of an answer that ${what}`;
  return new ModelError("broken-stream", { fact, advice: "try again", words: begin }, { cause });
}

/** Makes the error of an answer that is neither an event stream nor JSON. Most likely the address is wrong. */
export function errorOfType(endpoint: Pick<Endpoint, "address" | "format">, contentType: string): ModelError {
  return new ModelError(
    "invalid-request",
    `${endpoint.address} answers with ${contentType}, not in the ${endpoint.format} format; check the address, which often ends with /v1`,
  );
}

/** Makes the error of an answer with an endless line or event. Not retryable. */
export function errorOfLine(address: string, most: number): ModelError {
  return endless(address, `sent a line of more than ${inMebi(most)}`);
}

/** Makes the error of an endless answer. Not retryable. */
export function errorOfSize(address: string, most: number): ModelError {
  return endless(address, `sent an answer of more than ${inMebi(most)}`);
}

/** Makes the error of an answer that is nested too deeply to parse. Not retryable. */
export function errorOfDepth(address: string): ModelError {
  return endless(address, "sent an answer that is nested too deeply");
}

function endless(address: string, what: string): ModelError {
  return new ModelError("provider", `${address} ${what}; Banyan stopped reading there`, { retryable: false });
}

function inMebi(bytes: number): string {
  return bytes < 1024 * 1024 ? `${bytes} bytes` : `${Math.round(bytes / (1024 * 1024))} MiB`;
}

/** Makes the error of an answer with an unsupported content coding. Not retryable. */
export function errorOfCoding(address: string, codings: readonly string[]): ModelError {
  const packed = codings.slice(0, 5).join(", ").slice(0, 100);
  return new ModelError(
    "provider",
    `${address} sent an answer with the content coding ${packed}, which Banyan cannot decode`,
    {
      retryable: false,
    },
  );
}

/** Makes the error of a redirect. Redirects are not followed, since the new address would get the key. */
export function errorOfRedirect(address: string, status: number, location: string): ModelError {
  const url = URL.parse(location, address);
  const path = url?.pathname.replace(/\/(chat\/completions|messages|responses|models\/[^/]+:\w+)\/?$/, "") ?? "";
  const there = url ? `${url.origin}${path === "/" ? "" : path}` : "another address";
  return new ModelError(
    "invalid-request",
    `${address} has moved to ${there}; change the address in your settings (status ${status}; to protect the API key, Banyan follows no redirects)`,
    { status },
  );
}

function responseError(
  endpoint: Endpoint,
  body: string,
  status: number | undefined,
  headers?: (name: string) => string | undefined,
): ModelError {
  const error = modelErrorFromResponse({
    body,
    address: endpoint.address,
    model: endpoint.id,
    ...(status === undefined ? {} : { status }),
    ...(headers ? { headers } : {}),
  });
  if (error.code !== "authentication" || endpoint.keyVariable === undefined) return error;
  return new ModelError(error.code, `${error.message}; set ${endpoint.keyVariable} to a valid key`, {
    cause: error.cause,
    ...(error.status === undefined ? {} : { status: error.status }),
  });
}

function redact(endpoint: Endpoint, text: string): string {
  let clean = text;
  for (const secret of endpoint.secrets) clean = clean.replaceAll(secret, "[hidden]");
  return clean;
}

function isInvalidArgument(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && cause.code === "UND_ERR_INVALID_ARG";
}
