import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Returns a random token of 256 bits, in characters that are valid in a URL. */
export function randomToken(): string {
  return randomBytes(32).toString("base64url");
}

/** Compares two secrets in constant time. */
export function sameSecret(one: string, other: string): boolean {
  // Digests have the same length, whatever the client sent.
  return timingSafeEqual(secretDigest(one), secretDigest(other));
}

/** Derives a secret that is valid for one purpose only. */
export function derivedSecret(secret: string, purpose: string): string {
  return createHmac("sha256", secret).update(purpose).digest("base64url");
}

function secretDigest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/**
 * Returns the server's token from a file, so that pages stay signed in when the server restarts. If there is no file,
 * creates one with a random token, readable only by the user (mode 0600).
 * @example const token = keptToken("token");
 */
export function keptToken(file: string): string {
  const kept = tokenInFile(file);
  if (kept !== undefined) return kept;
  const token = randomToken();
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(file, `${token}\n`, { mode: 0o600, flag: "wx" });
    return token;
  } catch (error) {
    // Another server wrote the file first. A file without a valid token is an error, not a token.
    const other = tokenInFile(file);
    if (other === undefined) throw error;
    return other;
  }
}

/**
 * Returns the token in a file; `undefined` without a file, or if the text is too short to be safe.
 * @example console.log(tokenInFile("token") ?? "There is no token yet.");
 */
export function tokenInFile(file: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8").trim();
  } catch {
    // The file does not exist or cannot be read: there is no token.
    return undefined;
  }
  return /^[A-Za-z0-9_-]{32,200}$/.test(text) ? text : undefined;
}
