/**
 * Version of the protocol, as `major.minor`. A minor version only adds commands, properties, frames and feed items.
 * Readers ignore unknown additions.
 * @example isCompatible("1.7", PROTOCOL) // true
 */
export const PROTOCOL = "1.0";

/**
 * True if the major numbers of two versions are equal. False for an invalid version.
 * @example isCompatible("2.0", "1.0") // false
 */
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
 * @example const signed = new TextEncoder().encode(proofText("challenge", "127.0.0.1:4870"));
 */
export function proofText(challenge: string, host: string): string {
  return `banyan socket\n${challenge}\n${host}`;
}
