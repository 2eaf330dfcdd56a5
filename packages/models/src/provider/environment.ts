/** Environment variables, as in `process.env`. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** The trimmed value of a variable; `undefined` if it is empty or not set. */
export function readVariable(env: EnvironmentVariables, variable: string): string | undefined {
  return env[variable]?.trim() || undefined;
}
