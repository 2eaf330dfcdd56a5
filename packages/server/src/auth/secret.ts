import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

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

/**
 * The token of a machine's server: random, and kept for the user alone (mode 0600), so that pages stay signed in when the
 * server starts again. Whoever removes the file gets a new one.
 */
export function keptToken(file: string): string {
  const kept = tokenIn(file);
  if (kept !== undefined) return kept;
  const token = randomToken();
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(file, `${token}\n`, { mode: 0o600, flag: "wx" });
    return token;
  } catch (error) {
    // Another server was first. A file that holds no token is not one to guess from.
    const other = tokenIn(file);
    if (other === undefined) throw error;
    return other;
  }
}

/** The token in a file; nothing when there is none that nobody can guess. */
export function tokenIn(file: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8").trim();
  } catch {
    // No file, or none that may be read: then there is no token.
    return undefined;
  }
  return /^[A-Za-z0-9_-]{32,200}$/.test(text) ? text : undefined;
}
