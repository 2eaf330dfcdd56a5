import type { ModelDriver, ModelError } from "../ports/model.ts";

const NUMBER = "(\\d[\\d,_]*)(?!\\s*(?:bytes|characters|[kKMG]i?B))\\b";
const IS = "(?: is| of(?: only)?|:|=)?\\s*[([]?\\s*";

/** Forms in which errors state the model's window. The sources are in docs/models.md, the messages in the tests. */
const FORMS: readonly RegExp[] = [
  // "213462 tokens > 200000 maximum", "199759 + 8192 > 200000"
  new RegExp(`>\\s*${NUMBER}`, "i"),
  // "maximum context length is 8192", "available context size (4096 tokens)", "Max size: 8000", "model token limit: 8192"
  new RegExp(
    `\\b(?:max(?:imum)?|available|configured|loaded|model(?:'s)?|total|window|context)\\b(?:(?!exceed|output|completion)[\\w' ]){0,40}?(?:length|window|size|limit|(?<!_)tokens|allowed|len)(?: of [\\w./:-]+ is)?${IS}${NUMBER}`,
    "i",
  ),
  // "max_seq_len (8192)", "n_ctx": 4096
  new RegExp(`\\b(?:max_seq_len|max_model_len|n_ctx)\\b"?${IS}${NUMBER}`, "i"),
  // "32768 maximum context length"
  new RegExp(`${NUMBER}(?: tokens?)? max(?:imum)?\\b`, "i"),
  // "should be [1, 98304]"
  new RegExp(`\\[\\s*\\d+\\s*,\\s*${NUMBER}\\s*\\]`, "i"),
  // "must be <= 4097", "must have less than 1024 tokens", "cannot exceed 4081", "the limit of 128000"
  new RegExp(`(?:must (?:be|have) (?:<=?|less than|at most)|(?:cannot|must not) exceed|limit of)\\s*${NUMBER}`, "i"),
];

/** Smaller windows are not believed. */
const LEAST = 1_000;

/** Number of searched characters of a refusal. The window's size is near the beginning. */
const READ = 4_000;

/**
 * Reads the context window of a model from the error of a request that was too long and had `sent` tokens. Accepts only
 * a number up to `sent`. Without such a number, returns `own`, our own count of that request.
 */
export function windowFromError({ message, detail = "" }: ModelError, sent: number, own = sent): number {
  for (const text of [message, detail.slice(0, READ)]) {
    for (const form of FORMS) {
      const digits = form.exec(text)?.[1];
      if (digits === undefined) continue;
      const tokens = Number(digits.replace(/\D/g, ""));
      return tokens >= LEAST && tokens <= sent ? tokens : own;
    }
  }
  return own;
}

interface LearntWindowSize {
  window: number | undefined;
}

const byAddress = new Map<string, LearntWindowSize>();
const byDriver = new WeakMap<ModelDriver, LearntWindowSize>();

/** Drivers of one model at one address share the window that its server reported. */
function learntOf(model: ModelDriver): LearntWindowSize {
  let learnt = byDriver.get(model);
  if (!learnt) {
    const { id, address } = model;
    const place = address === undefined ? undefined : `${id} ${address}`;
    learnt = (place === undefined ? undefined : byAddress.get(place)) ?? { window: undefined };
    byDriver.set(model, learnt);
    if (place !== undefined) byAddress.set(place, learnt);
  }
  return learnt;
}

/** Stores, until the process ends, that a model accepts at most `tokens`. */
export function learnWindow(model: ModelDriver, tokens: number): void {
  if (tokens < LEAST) return;
  const learnt = learntOf(model);
  learnt.window = Math.min(tokens, learnt.window ?? tokens);
}

/**
 * Returns the context window of a model: the maximum tokens of a request and its response. Returns the smaller of the
 * known window and the window learnt from refusals. A window that the server reports overrides a learnt one.
 * @example console.log(`${windowOf(model) ?? "unknown"} tokens`);
 */
export function windowOf(model: ModelDriver, known = model.contextSize): number | undefined {
  if (model.learnContextSize && model.contextSize !== undefined)
    return Math.min(model.contextSize, known ?? Number.POSITIVE_INFINITY);
  const { window } = learntOf(model);
  return window === undefined || (known !== undefined && known < window) ? known : window;
}

export function hasLearntWindow(model: ModelDriver): boolean {
  return learntOf(model).window !== undefined;
}

/**
 * Returns the smallest context window learnt for models of this name. Lists of models show this window.
 * @example learntWindow("ollama/qwen3") // undefined, as long as no request was too long
 */
export function learntWindow(id: string): number | undefined {
  let smallest: number | undefined;
  for (const [place, { window }] of byAddress) {
    if (window !== undefined && place.startsWith(`${id} `)) smallest = Math.min(window, smallest ?? window);
  }
  return smallest;
}
