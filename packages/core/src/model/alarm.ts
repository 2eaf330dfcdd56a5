/** The longest time that a timer of the platform can wait. */
const LONGEST = 2 ** 31 - 1;

/** Calls `ring` once after so many milliseconds, however many; never for Infinity. What is returned cancels it. */
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
