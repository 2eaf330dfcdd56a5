import { isTooDeep } from "../conversation/checked/written-input.ts";
import { isJsonRecord } from "../conversation/shape-problem.ts";
import { cutTo } from "../conversation/shown/visible-text.ts";
import { delayAskedFor, delayInSentence } from "./retry-after.ts";

export interface ErrorReport {
  /** The sentences of the report, as many as fit on a line. The innermost sentence is the last. */
  readonly message: string;
  /** All sentences and words of the report, from which the kind of failure is found. */
  readonly text: string;
  /** The words for the kind of failure (`type`, `code`, `status`, ...), joined. */
  readonly words: string;
  /** The HTTP status in the body, for a failure that has no HTTP status of its own. */
  readonly status?: number;
  /** Milliseconds for which the provider asks the client to wait. */
  readonly retryAfter?: number;
}

/** Fields with a sentence for users, or with JSON that contains a sentence. */
const SENTENCES = [
  "message",
  "Message",
  "msg",
  "error_message",
  "errorMessage",
  "error_description",
  "detail",
  "title",
];
const WORDS = ["type", "__type", "code", "errorCode", "error_code", "status", "reason", "quotaId", "quota_limit"];
const INNER = [
  "response",
  "error",
  "raw",
  "metadata",
  "innererror",
  "details",
  "violations",
  "errors",
  "data",
  "cause",
];
/** Fields of `INNER` in which a text is a sentence too. */
const TEXTS = new Set(["error", "raw", "cause"]);

const DEEPEST = 30;
const MOST = 20;

/**
 * Finds the error message and code in the body of a failed response (F55): in `error`, `response.error`,
 * `metadata.raw`, an object or JSON in `message`, a list in `detail`, the first list element, or plain text.
 */
export function findErrorReport(body: unknown): ErrorReport {
  const reader = new ReportReader();
  reader.read(body, 0);
  return reader.report;
}

class ReportReader {
  readonly #sentences: string[] = [];
  readonly #words = new Set<string>();
  #status: number | undefined;
  #wait: number | undefined;

  get report(): ErrorReport {
    const words = [...this.#words].join(" ");
    return {
      message: this.#message(),
      text: `${words} ${this.#sentences.join(" ")}`.slice(0, LONGEST_TEXT),
      words: readableLine(words),
      ...(this.#status !== undefined && { status: this.#status }),
      ...(this.#wait !== undefined && { retryAfter: this.#wait }),
    };
  }

  #message(): string {
    let message = "";
    for (const sentence of this.#sentences.toReversed()) {
      const longer = message === "" ? sentence : `${sentence.replace(/[.:\s]+$/, "")}: ${message}`;
      if (message !== "" && longer.length > LONGEST) break;
      message = longer;
    }
    return readableLine(message);
  }

  read(value: unknown, depth: number): void {
    if (depth > DEEPEST) return;
    if (typeof value === "string") return this.#text(value, depth);
    if (Array.isArray(value)) {
      for (const item of value.slice(0, MOST)) this.read(item, depth + 1);
      return;
    }
    if (!isJsonRecord(value)) return;
    for (const name of WORDS) if (typeof value[name] === "string") this.#words.add(value[name]);
    this.#status ??= [value.code, value.status, value.statusCode].find(isFailure);
    this.#waits(value);
    // FastAPI names the field that a sentence is about.
    const field = Array.isArray(value.loc) ? value.loc.join(".") : "";
    for (const name of SENTENCES) {
      const said = value[name];
      if (typeof said === "string" && field !== "") this.#say(`${field}: ${said}`);
      else this.read(said, depth + 1);
    }
    for (const name of INNER) {
      const inner = value[name];
      if (typeof inner !== "string" || TEXTS.has(name)) this.read(inner, depth + 1);
    }
  }

  #text(text: string, depth: number): void {
    const inner = findJson(text);
    if (inner !== undefined) return this.read(inner, depth + 1);
    this.#say(/^\s*<[!?a-z]/i.test(text) ? htmlTitle(text) : text);
  }

  #say(text: string): void {
    const sentence = reportLine(text.slice(0, LONGEST_TEXT));
    if (sentence === "" || this.#sentences.some((said) => said.includes(sentence))) return;
    this.#sentences.push(sentence);
    this.#longest(delayInSentence(sentence));
  }

  #waits(value: Readonly<Record<string, unknown>>): void {
    const { retryDelay, headers } = value;
    // Google: https://cloud.google.com/apis/design/errors
    if (typeof retryDelay === "string") this.#longest(Number.parseFloat(retryDelay) * 1000);
    for (const name of ["resets_in_seconds", "retry_after", "retry_after_seconds"])
      if (typeof value[name] === "number") this.#longest(value[name] * 1000);
    for (const name of ["resets_at", "reset_at", "resetsAt"]) {
      const at = value[name];
      if (typeof at === "number" || typeof at === "string")
        this.#longest(delayAskedFor((header) => (header === "retry-after" ? String(at) : undefined), false));
    }
    if (!isJsonRecord(headers)) return;
    // OpenRouter passes on headers of the provider behind it.
    const said = new Map(Object.entries(headers).map(([name, text]) => [name.toLowerCase(), String(text)]));
    this.#longest(delayAskedFor((name) => said.get(name), true));
  }

  #longest(wait: number | undefined): void {
    if (wait === undefined || !(wait >= 0) || !Number.isFinite(wait)) return;
    this.#wait = Math.max(this.#wait ?? 0, Math.round(wait));
  }
}

/** Returns the list or object in a text, which begins within the first characters: `400 {"error": ...}`. */
function findJson(text: string): object | undefined {
  const begin = text.search(/[[{]/);
  if (begin === -1 || begin > FOREWORD || isTooDeep(text)) return undefined;
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
  try {
    const value: unknown = JSON.parse(text.slice(begin, end + 1));
    const isReport = isJsonRecord(value) || (Array.isArray(value) && (begin === 0 || text.includes("{")));
    return isReport ? (value as object) : undefined;
  } catch {
    return undefined;
  }
}

/** Maximum UTF-16 units before JSON in a text. */
const FOREWORD = 200;

function isFailure(status: unknown): status is number {
  return typeof status === "number" && status >= 400 && status < 600;
}

export function readableLine(text: unknown): string {
  if (typeof text !== "string") return "";
  return cutTo(reportLine(text), LONGEST - 1);
}

function reportLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, " ").trim();
}

/** UTF-16 units of a provider's words that fit into a sentence, and that are examined. */
const LONGEST = 300;
const LONGEST_TEXT = 10_000;

/** The rest of the page does not help users. */
function htmlTitle(page: string): string {
  const title = /<title[^>]*>([^<]{1,200})/i.exec(page)?.[1] ?? "";
  return readableLine(title).slice(0, 100);
}
