/** Exit codes of the command (T35). Scripts rely on these numbers. */
export const exitCodes = {
  done: 0,
  /** A defect, a failed provider, or an empty or refused answer. */
  failed: 1,
  /** An error in the command line, or in a name or file on it. */
  usage: 2,
  /** A limit of turns, cost or time, or an answer cut off at its maximum length. */
  limit: 3,
  /** A call was denied, or needed a user's approval. */
  denied: 4,
  authentication: 5,
  hangup: 129,
  interrupted: 130,
  brokenPipe: 141,
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Signals on which the command ends cleanly, with their exit codes. */
export const signalExits = {
  SIGINT: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
  SIGHUP: exitCodes.hangup,
} as const;

/** An error for a command that must end early, because a signal arrived or the reader of its output is gone. */
export class StoppedError extends Error {
  override readonly name = "StoppedError";
  readonly problem: { readonly code: string; readonly message: string; readonly exit: ExitCode };

  constructor(message: string, exit: ExitCode) {
    super(message);
    this.problem = { code: "interrupted", message, exit };
  }
}

/** Aborts `stop` with a `StoppedError` when a signal arrives. A second signal ends the process at once. */
export function stopOnSignals(stop: AbortController): Disposable {
  const listeners = Object.entries(signalExits).map(([signal, exit]) => {
    const listener = () => {
      if (stop.signal.aborted) process.exit(exit);
      stop.abort(new StoppedError(`Stopped by ${signal}.`, exit));
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
