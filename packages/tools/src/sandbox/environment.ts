/** Variables as a process gets them; an undefined one is not set. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Names of variables that look like a secret's. Rather too many than too few: who needs one lists it. */
const SECRET_NAME =
  /KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|PRIVATE|(?:^|_)(?:PASS|PAT|AUTH|DSN|COOKIE|JWT|HEADERS)$/i;

/** An address with a password in it, as databases have them. */
const SECRET_ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:[^/\s@]+@/i;

/** Whether a variable looks as if it held a secret: by its name, or because its value is an address with a password in it. */
export function holdsSecret(name: string, value: string): boolean {
  return SECRET_NAME.test(name) || SECRET_ADDRESS.test(value);
}

/**
 * The environment for a child process (S10): `inherited` without what looks like a secret, then `listed` on top just as
 * it is. A listed variable with no value is taken away.
 */
export function childEnvironment(inherited: Environment, listed: Environment): Record<string, string> {
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
