/** The value, or a rejection with the signal's reason as soon as that aborts. */
export function orAborted<T>(work: T | Promise<T>, signal: AbortSignal): T | Promise<T> {
  if (!(work instanceof Promise)) return work;
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
