/** Resolves as `promise` does, unless the signal aborts first: then it rejects with the signal's reason. */
export async function orAborted<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Runs `body` for at most this many milliseconds. Then its signal aborts and the wait rejects, both with `late()`. */
export async function within<T>(
  milliseconds: number,
  late: () => Error,
  signal: AbortSignal,
  body: (signal: AbortSignal) => PromiseLike<T>,
): Promise<T> {
  const time = new AbortController();
  const timer = setTimeout(() => time.abort(late()), milliseconds);
  const either = AbortSignal.any([signal, time.signal]);
  try {
    return await orAborted(body(either), either);
  } finally {
    clearTimeout(timer);
  }
}
