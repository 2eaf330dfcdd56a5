/** Environment variables of a process; undefined: not set. */
export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

/** Names of variables that may hold a secret. The pattern matches too many names on purpose: users can list a variable. */
const SECRET_NAME =
  /KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|PRIVATE|(?:^|_)(?:PASS|PAT|AUTH|DSN|COOKIE|JWT|HEADERS)$/i;

/** An address that contains a password, as databases use them. */
const SECRET_ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:[^/\s@]+@/i;

/** Returns whether a variable may hold a secret: by its name, or by an address with a password as its value. */
export function holdsSecret(name: string, value: string): boolean {
  return SECRET_NAME.test(name) || SECRET_ADDRESS.test(value);
}

/**
 * Returns the environment of a child process (S10): `inherited` without likely secrets, then `listed` unchanged. A
 * listed variable without a value is removed.
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
