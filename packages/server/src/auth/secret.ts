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

/** What a browser keeps in the place of a token: made from it, and of no use elsewhere. */
export function pageSecret(token: string): string {
  return createHmac("sha256", token).update("banyan page 1").digest("base64url");
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
