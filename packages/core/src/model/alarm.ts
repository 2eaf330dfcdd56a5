const LONGEST = 2 ** 31 - 1;

/** Calls `ring` once after any number of milliseconds; for Infinity, never. The returned function cancels the call. */
export function alarm(milliseconds: number, ring: () => void): () => void {
  if (milliseconds === Number.POSITIVE_INFINITY) return () => {};
  const at = performance.now() + milliseconds;
  let timer: NodeJS.Timeout;
  const wait = (rest: number) => {
    timer = setTimeout(() => (rest > LONGEST ? wait(at - performance.now()) : ring()), Math.min(rest, LONGEST));
  };
  wait(milliseconds);
  return () => clearTimeout(timer);
}

/**
 * Calls `action` once when the signal aborts, or at once if it has aborted already. Dispose of the result to stop.
 * @example using _ = onAbort(signal, () => console.log("stopped"));
 */
export function onAbort(signal: AbortSignal | undefined, action: () => void): Disposable {
  if (signal?.aborted) action();
  else signal?.addEventListener("abort", action, { once: true });
  return { [Symbol.dispose]: () => signal?.removeEventListener("abort", action) };
}

/**
 * Returns the value of `work`, or rejects with the signal's reason as soon as the signal aborts.
 * @example const text = await orAborted(Promise.resolve("Hello"), signal);
 */
export function orAborted<T>(work: T | Promise<T>, signal: AbortSignal): T | Promise<T> {
  if (!(work instanceof Promise)) return work;
  return new Promise<T>((resolve, reject) => {
    const listening = onAbort(signal, () => reject(signal.reason));
    work.then(resolve, reject).finally(() => listening[Symbol.dispose]());
  });
}
