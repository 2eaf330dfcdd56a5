/**
 * Version of the protocol, as `major.minor`. A minor version only adds commands, properties, frames and feed items.
 * Readers ignore unknown additions.
 */
export const PROTOCOL = "1.0";

/** True if the major numbers of two versions are equal. False for an invalid version. */
export function isCompatible(theirs: string, ours: string = PROTOCOL): boolean {
  const major = majorOf(theirs);
  return major !== undefined && major === majorOf(ours);
}

function majorOf(version: string): string | undefined {
  return /^(\d{1,6})\.\d{1,6}$/.exec(version)?.[1];
}

/**
 * Returns the text that a page's key signs (HMAC with SHA-256). The text contains the server's challenge and the host
 * of the page's address, so a proof is valid for one connection and one host.
 */
export function proofText(challenge: string, host: string): string {
  return `banyan socket\n${challenge}\n${host}`;
}
