/** How the command ends (T35). Scripts rely on these numbers. */
export const exitCodes = {
  done: 0,
  /** A defect, or a provider that failed. */
  failed: 1,
  /** The command line, a name or a file on it is wrong. */
  usage: 2,
  /** Stopped by a limit of turns, cost or time. */
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
