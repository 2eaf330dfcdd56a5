/** How the command ends (T35). Scripts rely on these numbers. */
export const exitCodes = {
  done: 0,
  /** A defect, a provider that failed, or an answer that is empty or refused. */
  failed: 1,
  /** The command line, a name or a file on it is wrong. */
  usage: 2,
  /** Stopped by a limit of turns, cost or time, or an answer that is cut off at the limit of its length. */
  limit: 3,
  /** A call was denied, or would have needed a person. */
  denied: 4,
  authentication: 5,
  hangup: 129,
  interrupted: 130,
  brokenPipe: 141,
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The signals that end the command in an orderly way, and how it exits then. */
export const signalExits = {
  SIGINT: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
  SIGHUP: exitCodes.hangup,
} as const;

/** The command is to end before its work is done: a signal came, or nobody reads what it writes. */
export class Stopped extends Error {
  override readonly name = "Stopped";
  readonly problem: { readonly code: string; readonly message: string; readonly exit: ExitCode };

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
