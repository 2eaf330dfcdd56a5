import { basename } from "node:path";
import { WorkspaceError } from "./error.ts";
import { compileGlob } from "./glob.ts";

/**
 * Starts a check of a text. Pass the returned function the whole text in pieces, from the beginning. So a private key
 * is recognized even if a tool result shows only a part of the text (S22). See {@link ForeignChanges}.
 */
export type KeyWatch = () => (piece: string) => void;

const NAMES =
  /^(?:(?:.+[._-])?id_(?:rsa|dsa|ecdsa|ed25519|ecdsa_sk|ed25519_sk)|.+_(?:rsa|dsa|ecdsa|ed25519)|.+\.(?:p12|pfx|jks|keystore|bks|kdbx|ppk))$/i;

const BEGINNINGS =
  /^\s*(?:-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----\r?\n|PuTTY-User-Key-File-[0-9]|AGE-SECRET-KEY-1|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY)/;

/**
 * Bytes of a file that `keyFileRefusal` examines.
 * @example keyFileRefusal("notes.md", Buffer.alloc(JUDGED_BYTES)) // undefined
 */
export const JUDGED_BYTES = 200;

/**
 * Returns why a file is not opened for a model: its name or first bytes indicate a private key (S22). Undefined for
 * other files and for files that a pattern in `allowed` matches.
 * @example
 * const refusal = keyFileRefusal("/home/me/.ssh/id_ed25519", Buffer.from("-----BEGIN OPENSSH PRIVATE KEY-----"));
 */
export function keyFileRefusal(path: string, start: Buffer, allowed: readonly string[] = []): string | undefined {
  if (!NAMES.test(basename(path)) && !BEGINNINGS.test(start.toString("latin1", 0, JUDGED_BYTES))) return undefined;
  if (allowed.some((pattern) => compileGlob(pattern)(path))) return undefined;
  return `${path} contains a private key, so it was not opened. Commands can use the file by its path. To let tools open the file, the user adds it to "keyFiles" in the settings; its keys are still redacted.`;
}

/** Throws if a file must not be opened for a model because it holds a private key. */
export function assertNoKeyFile(path: string, start: Buffer, allowed?: readonly string[]): void {
  const refusal = keyFileRefusal(path, start, allowed);
  if (refusal !== undefined) throw new WorkspaceError("refused", refusal);
}
