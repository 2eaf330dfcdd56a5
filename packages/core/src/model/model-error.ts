import { ModelError, type ModelErrorCode } from "../ports/model.ts";
import { saysTooLong } from "./context-overflow.ts";
import { waitAskedIn, waitIn } from "./retry-after.ts";

/** An HTTP response that says why there is no message. */
export interface FailedResponse {
  /** HTTP status; absent when the provider said it inside a stream that had begun well. */
  readonly status?: number;
  /** A header of the response by its lower-case name. */
  readonly headers?: (name: string) => string | undefined;
  /** What the provider wrote: text, or JSON that is parsed already. */
  readonly body?: unknown;
  /** Where the request went. */
  readonly address?: string;
  /** The model that was asked, as people write it. */
  readonly model?: string;
}

/** What went wrong, from the words that providers use for it. */
export function modelErrorFromResponse(response: FailedResponse): ModelError {
  const { status } = response;
  const report = reportIn(response.body);
  const code = codeOf(status, report);
  const retryAfter = waitAskedIn(response.headers ?? (() => undefined), code === "rate-limit") ?? report.retryAfter;
  const [fact, advice] = SENTENCES[code](
    placeOf(response.address),
    response.model ? `the model ${response.model}` : "the model",
  );
  const words = [status, report.message || report.words].filter(Boolean).join(": ");
  const said = { fact, advice, words };
  return new ModelError(code, said, {
    cause: response.body,
    ...(typeof response.body === "string" && { detail: response.body }),
    ...(status !== undefined && { status }),
    ...(retryAfter !== undefined && { retryAfter }),
  });
}

/**
 * What went wrong when there is no response at all, or when it broke off: an exception of the network.
 * Returns nothing for an exception that is not one of the network.
 */
export function modelErrorFromNetwork(cause: unknown, address?: string): ModelError | undefined {
  const place = placeOf(address);
  for (const error of causes(cause)) {
    const code = "code" in error ? String(error.code) : "";
    const detail = readable(error.message) || code;
    const fail = (is: ModelErrorCode, fact: string, advice: string) =>
      new ModelError(is, { fact, advice, words: detail }, { cause });
    if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
      return fail("unreachable", `${place} cannot be found`, CHECK_BOTH);
    }
    if (UNREACHABLE.has(code))
      return fail("unreachable", `${place} cannot be reached`, "check the address and that it runs");
    if (CERTIFICATE.test(code))
      return fail("unreachable", `${place} has a certificate that is not trusted`, "check the address");
    if (SILENT.has(code)) return fail("stalled", `${place} stopped answering`, "try again");
    if (CUT.has(code) || CUT_WORDS.test(error.message))
      return fail("broken-stream", `${place} cut the connection`, "try again");
  }
  const outermost = cause instanceof Error ? cause.message : "";
  if (!/^(fetch failed|failed to fetch)$/i.test(outermost)) return undefined;
  return new ModelError("unreachable", { fact: `${place} cannot be reached`, advice: CHECK_BOTH }, { cause });
}

const CHECK_BOTH = "check the address and the network";

const UNREACHABLE = new Set([
  "ECONNREFUSED",
  "ERR_INVALID_URL",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EHOSTDOWN",
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
]);
const SILENT = new Set(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);
const CUT = new Set([
  "ECONNRESET",
  "EPIPE",
  "ECONNABORTED",
  "UND_ERR_SOCKET",
  "UND_ERR_CLOSED",
  "HPE_INVALID_EOF_STATE",
]);
const CUT_WORDS = /^(terminated|aborted|socket hang up|other side closed|premature close)$/i;
const CERTIFICATE = /CERT|^UNABLE_TO_|^ERR_TLS/;

/** An exception, what caused it and, of several attempts, each. */
function* causes(error: unknown, depth = 0): Generator<Error> {
  if (!(error instanceof Error) || depth > 5) return;
  yield error;
  yield* causes(error.cause, depth + 1);
  if (error instanceof AggregateError) for (const one of error.errors) yield* causes(one, depth + 1);
}

/** What a provider wrote about a failure. */
interface Report {
  readonly message: string;
  /** Its words for the kind of failure (`type`, `code`, `status`, ...), joined. */
  readonly words: string;
  /** The HTTP status that it tells where the response has none of its own. */
  readonly status?: number;
  /** Milliseconds that it asks to wait. */
  readonly retryAfter?: number;
}

/**
 * Finds the report in a body. The forms: `{ error: { message, type, code } }` (OpenAI, Anthropic, and most others),
 * `{ error: "..." }` (Ollama), `{ message }`, `{ detail }`, one of them in an array (Gemini), or plain text.
 */
function reportIn(body: unknown): Report {
  if (typeof body === "string") {
    const parsed = parse(body);
    if (parsed !== undefined) return reportIn(parsed);
    return { message: /^\s*<[!?a-z]/i.test(body) ? titleOf(body) : readable(body), words: "" };
  }
  if (Array.isArray(body)) return reportIn(body[0]);
  if (!isRecord(body)) return { message: "", words: "" };
  if (isRecord(body.error)) return reportIn(body.error);
  const message = [body.message, body.error, body.detail].find((text) => typeof text === "string" && text !== "");
  const details = detailsIn(body);
  const words = [body.type, body.code, body.status, details.words].filter((word) => typeof word === "string").join(" ");
  const status = typeof body.code === "number" && body.code >= 400 && body.code < 600 ? body.code : undefined;
  const retryAfter = details.retryAfter ?? passedOn(body.metadata) ?? waitIn(message);
  return {
    message: readable(message),
    words: readable(words),
    ...(status !== undefined && { status }),
    ...(retryAfter !== undefined && { retryAfter }),
  };
}

/**
 * What Google adds to an error (https://cloud.google.com/apis/design/errors): a reason, which quota, how long to wait.
 */
function detailsIn(body: Readonly<Record<string, unknown>>): { words: string; retryAfter?: number } {
  const details = isRecord(body.data) ? body.data.details : body.details;
  let words = "";
  let retryAfter: number | undefined;
  for (const detail of Array.isArray(details) ? details : []) {
    if (!isRecord(detail)) continue;
    if (typeof detail.reason === "string") words += ` ${detail.reason}`;
    if (typeof detail.retryDelay === "string") retryAfter = Number.parseFloat(detail.retryDelay) * 1000;
    for (const violation of Array.isArray(detail.violations) ? detail.violations : []) {
      if (isRecord(violation) && typeof violation.quotaId === "string") words += ` ${violation.quotaId}`;
    }
  }
  return { words, ...(retryAfter !== undefined && retryAfter >= 0 && { retryAfter }) };
}

/** OpenRouter passes on what the provider behind it said in headers. */
function passedOn(metadata: unknown): number | undefined {
  const headers = isRecord(metadata) && isRecord(metadata.headers) ? metadata.headers : {};
  const said = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
  return waitAskedIn((name) => said.get(name), true);
}

function parse(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    // Plain text is a report too.
    return undefined;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** One line without control characters, cut where it gets long. */
function readable(text: unknown): string {
  if (typeof text !== "string") return "";
  const line = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
  return line.length > SAID ? `${line.slice(0, SAID - 1)}…` : line;
}

/** UTF-16 units of a provider's words that have room in a sentence. */
const SAID = 300;

/** Of a page for browsers, from a proxy in between: the rest of it tells a person nothing. */
function titleOf(page: string): string {
  const title = /<title[^>]*>([^<]{1,200})/i.exec(page)?.[1] ?? "";
  return readable(title).slice(0, 100);
}

// What a day allows is used up like money: nobody waits that long for a response.
const OUT_OF_MONEY =
  /insufficient_quota|exceeded_current_quota|arrearage|余额不足|欠费|billing_error|billing_hard_limit|credit balance|insufficient (funds|balance|credits)|(out of|all available) credits|spending limit|key limit exceeded|PerDay/i;
const BAD_KEY =
  /authentication_error|permission_error|invalid_api_key|API_KEY_INVALID|UNAUTHENTICATED|PERMISSION_DENIED|(incorrect|invalid) api key|api key not valid/i;

function codeOf(responded: number | undefined, report: Report): ModelErrorCode {
  const { message, words } = report;
  const status = responded ?? report.status;
  const text = `${words} ${message}`;
  if (status === 402 || OUT_OF_MONEY.test(text)) return "quota";
  if (status === 401 || status === 403 || BAD_KEY.test(text)) return "authentication";
  // "Too many tokens" is about the minute here, not about the request.
  if (status === 429 || /rate_limit|RESOURCE_EXHAUSTED|throttlingException/i.test(words)) return "rate-limit";
  if (status === 529 || status === 503 || /overloaded|slow_down|UNAVAILABLE/i.test(words)) return "overloaded";
  if (status === 413 || saysTooLong(text)) return "context-overflow";
  if (status === 404 || /model_not_found|not_found_error/.test(words)) return "unknown-model";
  if (status === 408 || (status !== undefined && status >= 500)) return "provider";
  if (status !== undefined && status >= 400) return "invalid-request";
  return /invalid_request/.test(words) ? "invalid-request" : "provider";
}

/** What is wrong, and what to do. */
const SENTENCES: Readonly<
  Record<ModelErrorCode, (place: string, model: string) => readonly [fact: string, advice: string]>
> = {
  authentication: (place, model) => [
    `${place} does not accept the API key`,
    `check that it is right and may use ${model}`,
  ],
  "rate-limit": (place) => [`${place} takes no more requests for now`, "wait a little and try again"],
  overloaded: (place) => [`${place} is overloaded`, "wait a little and try again"],
  quota: (place) => [`${place} says that the account has no credit left`, "add some or use another key"],
  "context-overflow": (_, model) => [
    `The conversation is too long for ${model}`,
    "shorten it or take a model with more room",
  ],
  "unknown-model": (place, model) => [`${place} does not know ${model}`, "check its name and the address"],
  "invalid-request": (place, model) => [
    `${place} does not take the request to ${model} as it is`,
    "check the settings and the files in it",
  ],
  unreachable: (place) => [`${place} cannot be reached`, CHECK_BOTH],
  "broken-stream": (place) => [`${place} broke off its answer`, "try again"],
  stalled: (place) => [`${place} stopped answering`, "try again"],
  provider: (place) => [`${place} failed to answer`, "try again later"],
};

/** The host of an address; never its query, which may hold a key. */
function placeOf(address: string | undefined): string {
  const place = address && URL.canParse(address) ? new URL(address).host : "";
  return place || "The model's provider";
}
