import { orAborted } from "@banyan/core/hosts";

/** Runs `body` for at most the given milliseconds. Then its signal aborts, and the promise rejects with `late()`. */
export async function runWithin<T>(
  milliseconds: number,
  late: () => Error,
  signal: AbortSignal,
  body: (signal: AbortSignal) => PromiseLike<T>,
): Promise<T> {
  const time = new AbortController();
  const timer = setTimeout(() => time.abort(late()), milliseconds);
  const either = AbortSignal.any([signal, time.signal]);
  try {
    return await orAborted(Promise.resolve(body(either)), either);
  } finally {
    clearTimeout(timer);
  }
}
