/**
 * What the key of a page signs (HMAC with SHA-256) to prove that this page has it: the server's challenge, so that a proof is
 * good for one connection, and the host as the page's address names it, so that it is good at no other.
 */
export function provenText(challenge: string, host: string): string {
  return `banyan socket\n${challenge}\n${host}`;
}
