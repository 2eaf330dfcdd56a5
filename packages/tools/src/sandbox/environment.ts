/** Environment variables of a process; undefined: not set. See {@link childEnvironment}. */
export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

/** Matches variable names that may hold a secret. It matches too many on purpose: users can list a variable. */
const SECRET_NAME =
  /KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|PRIVATE|(?:^|_)(?:PASS|PAT|AUTH|DSN|COOKIE|JWT|HEADERS)$/i;

const SECRET_ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:[^/\s@]+@/i;

/**
 * Returns whether a variable could contain a secret: because of its name, or because its value is an address with a
 * password.
 * @example holdsSecret("GITHUB_TOKEN", "abc") // true
 */
export function holdsSecret(name: string, value: string): boolean {
  return SECRET_NAME.test(name) || SECRET_ADDRESS.test(value);
}

/**
 * Returns the environment of a child process (S10): `inherited` without likely secrets, then `listed` unchanged. A
 * listed variable with the value undefined is removed.
 * @example childEnvironment({ LANG: "C", GITHUB_TOKEN: "abc" }, { CI: "1" }) // { LANG: "C", CI: "1" }
 */
export function childEnvironment(inherited: ProcessEnvironment, listed: ProcessEnvironment): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(inherited)) {
    if (value !== undefined && !holdsSecret(name, value)) environment[name] = value;
  }
  for (const [name, value] of Object.entries(listed)) {
    if (value === undefined) delete environment[name];
    else environment[name] = value;
  }
  return environment;
}
