import type { ModelError } from "../ports/model.ts";
import type { RetrySettings } from "./run.ts";

/** Model calls for one answer, the first included. */
const ATTEMPTS = 4;

/** Milliseconds to wait before a model is asked again, after so many attempts; nothing when it must not be. */
export function delayAfter(attempt: number, error: ModelError, settings: RetrySettings): number | undefined {
  const { attempts = ATTEMPTS, delay = 1_000, maxDelay = 60_000 } = settings;
  if (attempt >= attempts || !error.retryable) return undefined;
  if (error.retryAfter !== undefined) return error.retryAfter <= maxDelay ? error.retryAfter : undefined;
  // Some spread, so that clients that failed together do not come back together.
  return Math.min(maxDelay, delay * 2 ** (attempt - 1) * (0.75 + Math.random() / 2));
}
