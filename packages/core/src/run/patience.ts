import { alarm, onAbort } from "../model/alarm.ts";
import type { ModelError } from "../ports/model.ts";
import type { CountTokensUsed, RateLimit } from "../ports/rate-limit.ts";
import type { RetrySettings, TurnAgent, TurnRun } from "./run.ts";

/**
 * Maximum attempts that cost money: the response broke off, or the model made a mistake. Also for failed connections
 * before the first success in a turn, because then the address is usually wrong.
 */
const FEW = 4;

/** Milliseconds for which a failing model is retried, without and with a fallback model. */
const TIME = 300_000;
const TIME_WITH_FALLBACK = 60_000;

/** True if another model could succeed, because this model is unavailable and the request has no fault. */
export function isOtherModelWorthTrying({ retryable, code }: ModelError): boolean {
  return retryable || code === "quota";
}

/** Decides how often and how long a failed model call is retried (F35). */
export class Patience {
  /** Number of the current model call, from 1. */
  attempt = 1;
  readonly #settings: RetrySettings;
  readonly #time: number;
  #reached: boolean;
  #begun = 0;
  #since: number | undefined;

  /** @param reached True if the model has responded in this turn. */
  constructor({ retry, fallbacks }: Pick<TurnAgent, "retry" | "fallbacks">, reached: boolean) {
    this.#settings = retry;
    this.#time = retry.time ?? (fallbacks.length > 0 ? TIME_WITH_FALLBACK : TIME);
    this.#reached = reached;
  }

  /** Returns the milliseconds to wait before the next attempt, or nothing if the model must not be asked again. */
  after(error: ModelError, begun: boolean): number | undefined {
    const { attempts = Number.POSITIVE_INFINITY, delay = 1_000, maxDelay = 60_000 } = this.#settings;
    const now = performance.now();
    this.#since ??= now;
    this.#reached ||= error.code !== "unreachable";
    if (begun || error.paid) this.#begun++;
    const few = this.#begun >= FEW || (!this.#reached && this.attempt >= FEW);
    if (few || this.attempt >= attempts || !error.retryable) return undefined;
    // Random spread, so that clients that failed together do not return together.
    const growing = Math.min(maxDelay, delay * 2 ** (this.attempt - 1) * (0.75 + Math.random() / 2));
    const pause = error.retryAfter === undefined ? growing : Math.max(error.retryAfter, delay);
    if (now - this.#since + pause > this.#time) return undefined;
    this.attempt++;
    return pause;
  }
}

/** Waits until the rate limit allows a model call, and publishes the wait. Returns `undefined` after an abort. */
export async function waitForRate(
  run: TurnRun,
  limit: RateLimit,
  {
    attempt,
    tokens,
    isQuiet = false,
  }: { readonly attempt: number; readonly tokens: number; readonly isQuiet?: boolean },
): Promise<CountTokensUsed | undefined> {
  const reason = `The rate limit of ${run.agent.name} is ${limit}.`;
  try {
    return await limit.take(tokens, run.signal, (delay) => {
      if (!isQuiet) publishAttempt(run, attempt, delay, { code: "rate-limit", reason });
    });
  } catch (error) {
    if (!run.signal.aborted) throw error;
    return undefined;
  }
}

/** Publishes the pending retry, then waits `delay` milliseconds. Returns `false` when the run was aborted. */
export async function waitToRetry(run: TurnRun, attempt: number, delay: number, error: ModelError): Promise<boolean> {
  const { code, status, fact: reason } = error;
  publishAttempt(run, attempt, delay, { code, ...(status === undefined ? {} : { status }), reason });
  return waitSilently(run, delay);
}

function publishAttempt(
  { session, id: run, origin }: TurnRun,
  attempt: number,
  delay: number,
  why: { readonly code: ModelError["code"]; readonly status?: number; readonly reason: string },
): void {
  session.notify({ type: "model.retrying", run, attempt, delay, nextAt: Date.now() + delay, ...why }, origin);
}

/** Waits `delay` milliseconds without publishing. Returns `false` when the run was aborted. */
export function waitSilently({ signal }: TurnRun, delay: number): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = alarm(delay, () => {
      listening[Symbol.dispose]();
      resolve(true);
    });
    const listening = onAbort(signal, () => {
      cancel();
      resolve(false);
    });
  });
}
