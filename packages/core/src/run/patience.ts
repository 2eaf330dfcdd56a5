import { setTimeout as sleep } from "node:timers/promises";
import type { ModelError } from "../ports/model.ts";
import type { RetrySettings, TurnAgent, TurnRun } from "./run.ts";

/**
 * Model calls for one response that are each paid for (it broke off after its first word, or the model made a mistake), or
 * that reach nobody (where nobody has been reached in this turn, the address is wrong as a rule).
 */
const FEW = 4;

/** Milliseconds for which a model that fails is asked again, and for which it is while another can stand in for it. */
const TIME = 300_000;
const TIME_WITH_FALLBACK = 60_000;

/** Whether another model may do better: this one is out, and nothing is wrong with what it was asked. */
export function isOut({ retryable, code }: ModelError): boolean {
  return retryable || code === "quota";
}

/** How long one response is asked for again and again (F35). */
export class Patience {
  /** The model call that is under way, from 1. */
  attempt = 1;
  readonly #settings: RetrySettings;
  readonly #time: number;
  #reached: boolean;
  #begun = 0;
  /** When the first one failed, on the clock of the process. */
  #since: number | undefined;

  /** @param reached Whether the model has responded in this turn. */
  constructor({ retry, fallbacks }: Pick<TurnAgent, "retry" | "fallbacks">, reached: boolean) {
    this.#settings = retry;
    this.#time = retry.time ?? (fallbacks.length > 0 ? TIME_WITH_FALLBACK : TIME);
    this.#reached = reached;
  }

  /** Milliseconds to wait before the model is asked again, which is the next attempt; nothing when it must not be. */
  after(error: ModelError, begun: boolean): number | undefined {
    const { attempts = Number.POSITIVE_INFINITY, delay = 1_000, maxDelay = 60_000 } = this.#settings;
    const now = performance.now();
    this.#since ??= now;
    this.#reached ||= error.code !== "unreachable";
    if (begun || error.paid) this.#begun++;
    const few = this.#begun >= FEW || (!this.#reached && this.attempt >= FEW);
    if (few || this.attempt >= attempts || !error.retryable) return undefined;
    // Some spread, so that clients that failed together do not come back together.
    const growing = Math.min(maxDelay, delay * 2 ** (this.attempt - 1) * (0.75 + Math.random() / 2));
    const pause = error.retryAfter === undefined ? growing : Math.max(error.retryAfter, delay);
    if (now - this.#since + pause > this.#time) return undefined;
    this.attempt++;
    return pause;
  }
}

/** Says that a model is asked again after `delay` milliseconds, and waits for these. Returns `false` when the run was aborted. */
export async function waitToRetry(run: TurnRun, attempt: number, delay: number, error: ModelError): Promise<boolean> {
  const { code, status, fact: reason } = error;
  const next = { run: run.id, attempt, delay, nextAt: Date.now() + delay };
  const why = { code, ...(status === undefined ? {} : { status }), reason };
  run.session.notify({ type: "model.retrying", ...next, ...why }, run.origin);
  return waitUntold(run, delay);
}

/** Waits `delay` milliseconds. Returns `false` when the run was aborted. */
export async function waitUntold({ signal }: TurnRun, delay: number): Promise<boolean> {
  try {
    await sleep(delay, undefined, { signal });
    return true;
  } catch {
    // Only an abort of the run ends the wait early.
    return false;
  }
}
