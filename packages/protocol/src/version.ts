/**
 * The version of this protocol, as `major.minor`. A minor version adds commands, properties, frames and feed items; a
 * major one changes or removes some. Whoever reads passes over what it does not know.
 */
export const PROTOCOL = "1.0";

/**
 * Whether two versions of the protocol can talk: when their major numbers are the same. False for a text that is not a
 * version.
 */
export function isCompatible(theirs: string, ours: string = PROTOCOL): boolean {
  const major = majorOf(theirs);
  return major !== undefined && major === majorOf(ours);
}

function majorOf(version: string): string | undefined {
  return /^(\d{1,6})\.\d{1,6}$/.exec(version)?.[1];
}

/**
 * What the key of a page signs (HMAC with SHA-256) to prove that this page has it: the server's challenge, so that a proof is
 * good for one connection, and the host as the page's address names it, so that it is good at no other.
 */
export function provenText(challenge: string, host: string): string {
  return `banyan socket\n${challenge}\n${host}`;
}
