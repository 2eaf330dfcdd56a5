import { OptionError, type OptionNames, refuseUnknown } from "../conversation/option-names.ts";
import { counted } from "../conversation/shown/amounts.ts";

interface RateLimitOptions {
  /** Maximum model calls that begin within any 60 seconds. */
  readonly requestsPerMinute?: number | undefined;
  /** Maximum input and output tokens, cached tokens included, within any 60 seconds. */
  readonly tokensPerMinute?: number | undefined;
}

const OPTIONS: OptionNames<RateLimitOptions> = { requestsPerMinute: true, tokensPerMinute: true };

const MINUTE = 60_000;

/** Use at one time, on the clock of `performance.now()`. */
interface Use {
  readonly at: number;
  readonly requests: number;
  tokens: number;
}

interface WaitingCall {
  readonly tokens: number;
  /** The time of its start, as last announced. */
  startsAt: number;
  waits(delay: number): void;
  start(count: CountTokensUsed): void;
}

/** Replaces the estimate of a model call by the tokens that the provider counted. */
export type CountTokensUsed = (tokens: number) => void;

/**
 * A limit on the model calls per minute. All agents with the same `RateLimit` share it, also with their sub-agents,
 * retries and summaries. A call that would exceed the limit waits. Calls begin in the order of their arrival. An
 * interrupt ends the wait. Throws `OptionError` for invalid options.
 * @example
 * const rateLimit = new RateLimit({ requestsPerMinute: 50, tokensPerMinute: 40_000 });
 * const writer = new Agent({ model, rateLimit });
 * const critic = new Agent({ model, rateLimit, instructions: "Find the mistakes." });
 */
export class RateLimit {
  readonly #most: { readonly requests: number; readonly tokens: number };
  /** Use of the last minute, oldest first. */
  #used: Use[] = [];
  readonly #waiting: WaitingCall[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: RateLimitOptions) {
    refuseUnknown("a rate limit", options, OPTIONS);
    for (const [name, value] of Object.entries(options ?? {})) {
      if (value !== undefined && !(Number.isInteger(value) && value > 0))
        throw new OptionError(`${name} is ${value}; it must be a positive whole number.`);
    }
    const { requestsPerMinute: requests, tokensPerMinute: tokens } = options ?? {};
    if (requests === undefined && tokens === undefined)
      throw new OptionError("A rate limit needs requestsPerMinute, tokensPerMinute or both.");
    this.#most = { requests: requests ?? Number.POSITIVE_INFINITY, tokens: tokens ?? Number.POSITIVE_INFINITY };
  }

  /** True if the caller must estimate the tokens of a call. @internal */
  get countsTokens(): boolean {
    return Number.isFinite(this.#most.tokens);
  }

  /** The limits in words, for users. @internal */
  toString(): string {
    const { requests, tokens } = this.#most;
    const limits = [
      Number.isFinite(requests) && counted(requests, "request"),
      this.countsTokens && counted(tokens, "token"),
    ];
    return `${limits.filter((limit) => limit !== false).join(" and ")} per minute`;
  }

  /**
   * Resolves as soon as a call with about `tokens` may begin. A call with more tokens than the limit begins in an empty
   * minute. `waits` gets the expected delay in milliseconds, and again if the delay grows. Rejects with the signal's
   * reason.
   * @internal
   */
  take(tokens: number, signal: AbortSignal, waits: (delay: number) => void): Promise<CountTokensUsed> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const now = performance.now();
    this.#forget(now);
    if (this.#waiting.length === 0 && this.#startOf(tokens, this.#used, now) <= now)
      return Promise.resolve(this.#begin(tokens, now));
    let planned = this.#used;
    let startsAt = now;
    for (const call of [...this.#waiting, { tokens }]) {
      startsAt = this.#startOf(call.tokens, planned, startsAt);
      planned = [...planned, { at: startsAt, requests: 1, tokens: call.tokens }];
    }
    const { promise, resolve, reject } = Promise.withResolvers<CountTokensUsed>();
    const giveUp = () => {
      this.#waiting.splice(this.#waiting.indexOf(call), 1);
      reject(signal.reason);
      this.#startWaiting();
    };
    signal.addEventListener("abort", giveUp, { once: true });
    const start = (count: CountTokensUsed) => {
      signal.removeEventListener("abort", giveUp);
      resolve(count);
    };
    const call: WaitingCall = { tokens, startsAt, waits, start };
    this.#waiting.push(call);
    waits(startsAt - now);
    if (this.#waiting.length === 1) this.#startWaiting();
    return promise;
  }

  /** Starts the waiting calls that have room, and sets the alarm for the next. */
  #startWaiting(): void {
    clearTimeout(this.#timer);
    const now = performance.now();
    this.#forget(now);
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      const startsAt = this.#startOf(next.tokens, this.#used, now);
      if (startsAt > now) {
        // A running call may have used more tokens than estimated.
        if (startsAt > next.startsAt + 1_000) {
          next.startsAt = startsAt;
          next.waits(startsAt - now);
        }
        this.#timer = setTimeout(() => this.#startWaiting(), Math.ceil(startsAt - now));
        return;
      }
      this.#waiting.shift();
      next.start(this.#begin(next.tokens, now));
    }
  }

  #begin(tokens: number, at: number): CountTokensUsed {
    const use: Use = { at, requests: 1, tokens };
    this.#used.push(use);
    return (counted) => {
      // Tokens beyond the estimate were used just now, at the end of the response.
      if (counted > tokens) this.#used.push({ at: performance.now(), requests: 0, tokens: counted - tokens });
      else use.tokens = counted;
      this.#startWaiting();
    };
  }

  #forget(now: number): void {
    const kept = this.#used.findIndex(({ at }) => at > now - MINUTE);
    this.#used = kept < 0 ? [] : this.#used.slice(kept);
  }

  /** Returns the time from `now` on at which a call with `tokens` has room. `used` is sorted by time. */
  #startOf(tokens: number, used: readonly Use[], now: number): number {
    const live = used.filter(({ at }) => at > now - MINUTE);
    const { requests: mostRequests, tokens: mostTokens } = this.#most;
    let requests = live.reduce((sum, use) => sum + use.requests, 0);
    let taken = live.reduce((sum, use) => sum + use.tokens, 0);
    let startsAt = now;
    for (const use of live) {
      if (requests < mostRequests && taken + tokens <= mostTokens) break;
      startsAt = use.at + MINUTE;
      requests -= use.requests;
      taken -= use.tokens;
    }
    return startsAt;
  }
}
