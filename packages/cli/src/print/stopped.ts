import { type ExitCode, signalExits } from "../exit.ts";
import type { Problem } from "../problem.ts";

/** The command is to end before its turn has: a signal came, or nobody reads what it writes. */
export class Stopped extends Error {
  override readonly name = "Stopped";
  readonly problem: Problem;

  constructor(message: string, exit: ExitCode) {
    super(message);
    this.problem = { code: "interrupted", message, exit };
  }
}

/** Aborts with `Stopped` when a signal asks the command to end; a second one ends it at once. */
export function stopOnSignals(stop: AbortController): Disposable {
  const listeners = Object.entries(signalExits).map(([signal, exit]) => {
    const listener = () => {
      // Whoever signals twice does not want to wait for anything.
      if (stop.signal.aborted) process.exit(exit);
      stop.abort(new Stopped(`Stopped by ${signal}.`, exit));
    };
    process.on(signal, listener);
    return { signal, listener };
  });
  return {
    [Symbol.dispose]() {
      for (const { signal, listener } of listeners) process.off(signal, listener);
    },
  };
}
