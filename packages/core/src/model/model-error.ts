import { ModelError, type ModelErrorCode } from "../ports/model.ts";
import { saysTooLong } from "./context-overflow.ts";
import { type ErrorReport, findErrorReport, readableLine } from "./error-report.ts";
import { delayAskedFor } from "./retry-after.ts";

/** A failed HTTP response, or a failure inside a stream. See {@link modelErrorFromResponse}. */
export interface FailedResponse {
  /** HTTP status. Absent: the failure came in a stream whose response had begun with a success status. */
  readonly status?: number;
  /** Returns a header of the response by its lower-case name. */
  readonly headers?: (name: string) => string | undefined;
  /** The provider's report: text, or parsed JSON. */
  readonly body?: unknown;
  readonly address?: string;
  readonly model?: string;
}

/**
 * Converts a failed response to a `ModelError`, by the HTTP status and the provider's error message.
 * @example modelErrorFromResponse({ status: 429, address: "https://api.example.com" }).code // "rate-limit"
 */
export function modelErrorFromResponse(response: FailedResponse): ModelError {
  const { status } = response;
  const report = findErrorReport(response.body);
  const code = modelErrorCode(status, report);
  const asked = delayAskedFor(response.headers ?? (() => undefined), code === "rate-limit");
  // A header may ask for a short pause although the body reports a limit of several days (F61).
  const isLong = (report.retryAfter ?? 0) >= HOUR;
  const retryAfter = isLong ? report.retryAfter : (asked ?? report.retryAfter);
  const [fact, advice] = SENTENCES[code](
    hostOf(response.address),
    response.model ? `the model ${response.model}` : "the model",
  );
  const words = [status, report.message || report.words].filter(Boolean).join(": ");
  const ends = code === "rate-limit" || code === "quota" ? whenItEnds(retryAfter, report) : undefined;
  const said = { fact, advice: ends ?? advice, words };
  return new ModelError(code, said, {
    cause: response.body,
    ...(typeof response.body === "string" && { detail: response.body }),
    ...(code === "provider" && isFaultOfModel(status, report) && { paid: true }),
    ...(status !== undefined && { status }),
    ...(retryAfter !== undefined && { retryAfter }),
  });
}

/**
 * Converts a network exception to a `ModelError`. Returns nothing for any other exception.
 * @example modelErrorFromNetwork(Object.assign(new Error("refused"), { code: "ECONNREFUSED" }))?.code // "unreachable"
 */
export function modelErrorFromNetwork(cause: unknown, address?: string): ModelError | undefined {
  const place = hostOf(address);
  for (const error of causes(cause)) {
    const code = "code" in error ? String(error.code) : "";
    const detail = readableLine(error.message) || code;
    const fail = (is: ModelErrorCode, fact: string, advice: string) =>
      new ModelError(is, { fact, advice, words: detail }, { cause });
    if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
      return fail("unreachable", `${place} cannot be found`, CHECK_BOTH);
    }
    if (UNREACHABLE.has(code))
      return fail("unreachable", `${place} cannot be reached`, "check the address, and that the server runs");
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

function* causes(error: unknown, depth = 0): Generator<Error> {
  if (!(error instanceof Error) || depth > 5) return;
  yield error;
  yield* causes(error.cause, depth + 1);
  if (error instanceof AggregateError) for (const one of error.errors) yield* causes(one, depth + 1);
}

const HOUR = 3_600_000;
/** Milliseconds from which the end of a wait is shown. */
const WORTH_TELLING = 60_000;

/** Returns when a limit has room again (F61): a user who waits for hours wants to know the time. */
function whenItEnds(wait: number | undefined, { text }: ErrorReport): string | undefined {
  if (wait !== undefined && wait >= WORTH_TELLING) {
    const date = new Date(Date.now() + wait);
    const at = Number.isNaN(date.getTime()) ? "" : ` (${date.toISOString().slice(0, 16).replace("T", " ")} UTC)`;
    return `it has room again in ${durationOf(wait)}${at}`;
  }
  // https://ai.google.dev/gemini-api/docs/rate-limits
  if (/PerDay/.test(text)) return "this limit is of the day, and Google renews it at midnight, Pacific time";
  return undefined;
}

function durationOf(wait: number): string {
  const minutes = Math.ceil(wait / 60_000);
  const parts = [
    [Math.floor(minutes / 1440), "d"],
    [Math.floor(minutes / 60) % 24, "h"],
    [minutes % 60, "min"],
  ] as const;
  const from = parts.findIndex(([count]) => count > 0);
  return parts
    .slice(from, from + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ");
}

const OUT_OF_MONEY =
  /insufficient_quota|exceeded_current_quota|arrearage|余额不足|欠费|billing_error|billing_hard_limit|credit balance|insufficient (funds|balance|credits)|(out of|all available) credits|spending limit|key limit exceeded/i;
// A daily limit counts like money: no user waits that long for a response, unless the provider states when the limit
// ends.
const LONG_LIMIT =
  /PerDay|usage_limit|usage limit|(daily|weekly|monthly) (usage |request |token )?(limit|quota)|per (day|week|month)\b/i;
const BAD_KEY =
  /authentication_error|permission_error|invalid_api_key|API_KEY_INVALID|UNAUTHENTICATED|PERMISSION_DENIED|(incorrect|invalid) api key|api key not valid/i;

/** Messages of filters that refused the prompt (F62), each with a provider known to use it. */
const FILTERS: readonly RegExp[] = [
  // Azure: https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter
  /content_filter|content_policy_violation|ResponsibleAIPolicyViolation|content management policy/,
  // OpenAI: "Invalid prompt: your prompt was flagged as potentially violating our usage policy."
  /flagged as potentially violating|moderation_blocked|content_moderation/i,
  // OpenRouter: "... requires moderation on ... Your input was flagged for ..."
  /your input was flagged|input (was )?flagged/i,
  // DashScope: https://help.aliyun.com/zh/model-studio/error-code
  /data_?inspection_?failed/i,
  // DeepSeek
  /Content Exists Risk/i,
  // Moonshot: "The request was rejected because it was considered high risk"
  /considered high risk/i,
  // Zhipu (1301), Volcengine
  /不安全或敏感内容|SensitiveContentDetected/,
  // Anthropic: "Output blocked by content filtering policy"
  /content filtering policy/i,
  // Google, as an error
  /PROHIBITED_CONTENT/,
];
const NOT_OF_FILTERS: ReadonlySet<number | undefined> = new Set([401, 402, 404, 408, 413, 429]);

/** A fault of the model and not of the request, despite a 4xx status: a retry may succeed at once (F60). */
const MODEL_AT_FAULT =
  /tool_use_failed|json_validate_failed|output_parse_failed|failed_generation|modelStreamErrorException|malformed_function_call/i;

function isFaultOfModel(status: number | undefined, { text }: ErrorReport): boolean {
  return status === 424 || MODEL_AT_FAULT.test(text);
}

function modelErrorCode(responded: number | undefined, report: ErrorReport): ModelErrorCode {
  const { text, words } = report;
  const status = responded ?? report.status;
  const isRefusable = (status === undefined || status < 500) && !NOT_OF_FILTERS.has(status);
  if (isRefusable && FILTERS.some((form) => form.test(text))) return "filtered";
  if (status === 402 || OUT_OF_MONEY.test(text)) return "quota";
  if (status === 401 || status === 403 || BAD_KEY.test(text)) return "authentication";
  // "Too many tokens" means tokens per minute here, not the size of the request.
  if (status === 429 || /rate_limit|RESOURCE_EXHAUSTED|throttlingException|usage_limit/i.test(words))
    return report.retryAfter === undefined && LONG_LIMIT.test(text) ? "quota" : "rate-limit";
  if (status === 529 || status === 503 || /overloaded|slow_down|UNAVAILABLE/i.test(words)) return "overloaded";
  if (status === 413 || saysTooLong(text)) return "context-overflow";
  if (status === 404 || /model_not_found|not_found_error/.test(words)) return "unknown-model";
  if (isFaultOfModel(status, report)) return "provider";
  if (status === 408 || (status !== undefined && status >= 500)) return "provider";
  if (status !== undefined && status >= 400) return "invalid-request";
  return /invalid_request/.test(words) ? "invalid-request" : "provider";
}

const SENTENCES: Readonly<
  Record<ModelErrorCode, (place: string, model: string) => readonly [fact: string, advice: string]>
> = {
  authentication: (place, model) => [
    `${place} does not accept the API key`,
    `check that the key is right and may use ${model}`,
  ],
  "rate-limit": (place) => [`${place} accepts no more requests for now`, "wait a little and try again"],
  overloaded: (place) => [`${place} is overloaded`, "wait a little and try again"],
  quota: (place) => [`${place} reports that the account has no credit left`, "add some or use another key"],
  filtered: (place) => [`The content filter of ${place} refused the request`, "rephrase your message"],
  "context-overflow": (_, model) => [
    `The conversation is too long for ${model}`,
    "compact the conversation, or choose a model with a larger context",
  ],
  "unknown-model": (place, model) => [`${place} does not know ${model}`, "check its name and the address"],
  "invalid-request": (place, model) => [
    `${place} rejected the request to ${model}`,
    "check the settings and the files in it",
  ],
  unreachable: (place) => [`${place} cannot be reached`, CHECK_BOTH],
  "broken-stream": (place) => [`${place} broke off its answer`, "try again"],
  stalled: (place) => [`${place} stopped answering`, "try again"],
  provider: (place) => [`${place} failed to answer`, "try again later"],
};

/** The query may contain a key. */
function hostOf(address: string | undefined): string {
  const place = address && URL.canParse(address) ? new URL(address).host : "";
  return place || "The model's provider";
}
