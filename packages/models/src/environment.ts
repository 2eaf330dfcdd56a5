/** Environment variables, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The value of a variable without the blanks around it; `undefined` when it is empty or not set. */
export function readVariable(env: Environment, variable: string): string | undefined {
  return env[variable]?.trim() || undefined;
}
