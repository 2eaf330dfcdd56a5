/** Environment variables, as in `process.env`. See {@link listProviders}. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** Returns the variables of this process, or none where there is no process, as in a browser. */
export function processVariables(): EnvironmentVariables {
  // biome-ignore lint/correctness/noProcessGlobal: used only where it exists; an import would fail elsewhere.
  return globalThis.process?.env ?? NO_VARIABLES;
}

const NO_VARIABLES: EnvironmentVariables = {};

/** The trimmed value of a variable; `undefined` if it is empty or not set. */
export function readVariable(env: EnvironmentVariables, variable: string): string | undefined {
  return env[variable]?.trim() || undefined;
}
