import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** A token that nobody guesses: 256 random bits, in characters that an address can hold. */
export function randomToken(): string {
  return randomBytes(32).toString("base64url");
}

/** Whether two secrets are the same, in a time that tells nothing about where they differ. */
export function sameSecret(one: string, other: string): boolean {
  // Digests have one length, whatever was sent.
  return timingSafeEqual(digest(one), digest(other));
}

/** A secret that is made from another one for a purpose, and is of no use for any other. */
export function derivedSecret(secret: string, purpose: string): string {
  return createHmac("sha256", secret).update(purpose).digest("base64url");
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
