import { basename } from "node:path";
import { WorkspaceError } from "./error.ts";
import { compileGlob } from "./glob.ts";

/**
 * Told of a text that is about to be taken apart, in pieces from its beginning, so that what can only be known in the whole, as a
 * private key, is known in a piece too (S22). Each text begins with a new one.
 */
export type Watch = () => (piece: string) => void;

/** Names of files that hold private keys and nothing else. */
const NAMES =
  /^(?:(?:.+[._-])?id_(?:rsa|dsa|ecdsa|ed25519|ecdsa_sk|ed25519_sk)|.+_(?:rsa|dsa|ecdsa|ed25519)|.+\.(?:p12|pfx|jks|keystore|bks|kdbx|ppk))$/i;

/** How files begin that hold one. */
const BEGINNINGS =
  /^\s*(?:-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----\r?\n|PuTTY-User-Key-File-[0-9]|AGE-SECRET-KEY-1|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY)/;

/** Bytes of a file by whose beginning it is judged. */
export const JUDGED_BYTES = 200;

/**
 * Why a file is not opened for a model: its name or its first bytes say that it holds a private key and nothing else (S22).
 * Nothing for any other file, and for those that the patterns of `allowed` name.
 */
export function keyFileRefusal(path: string, start: Buffer, allowed: readonly string[] = []): string | undefined {
  if (!NAMES.test(basename(path)) && !BEGINNINGS.test(start.toString("latin1", 0, JUDGED_BYTES))) return undefined;
  if (allowed.some((pattern) => compileGlob(pattern)(path))) return undefined;
  return `${path} holds a private key and is not opened. Commands can use it by its path; who wants it opened names it under "keyFiles" in their settings (its keys are redacted even then).`;
}

/** Throws when a file is not opened for a model. */
export function assertNoKeyFile(path: string, start: Buffer, allowed?: readonly string[]): void {
  const refusal = keyFileRefusal(path, start, allowed);
  if (refusal !== undefined) throw new WorkspaceError("refused", refusal);
}
