/** Environment variables, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The trimmed value of a variable; `undefined` if it is empty or not set. */
export function readVariable(env: Environment, variable: string): string | undefined {
  return env[variable]?.trim() || undefined;
}
