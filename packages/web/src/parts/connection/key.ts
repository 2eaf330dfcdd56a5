import { proofText } from "@banyan/protocol";

/**
 * The key of a sign-in (S20). The browser stores it for the page's origin, host and port, so that no other server on
 * this machine gets it. If the browser can sign, no script can read the key, not even a page of a later server on this
 * port. Windows share the key, and it survives a restart of the browser.
 */
export type Key = CryptoKey | string;

const HMAC = { name: "HMAC", hash: "SHA-256" } as const;

/** Stores the key from the server, and replaces any other key. */
export async function keepKey(secret: string): Promise<void> {
  // Without cryptography, as over plain HTTP from another machine, the key is its own proof.
  const { subtle } = crypto as { readonly subtle?: SubtleCrypto };
  const key: Key = subtle ? await subtle.importKey("raw", decodeBase64Url(secret), HMAC, false, ["sign"]) : secret;
  await inStore("readwrite", (keys) => keys.put(key, NAME));
}

/** Returns the stored key; `undefined` if there is none, or storage is forbidden. */
export async function keptKey(): Promise<Key | undefined> {
  try {
    return (await inStore<Key | undefined>("readonly", (keys) => keys.get(NAME))) ?? undefined;
  } catch {
    // A browser without storage has no key.
    return undefined;
  }
}

/** Removes the key, so that a page without its cookie does not look signed in. */
export async function forgetKey(): Promise<void> {
  await inStore("readwrite", (keys) => keys.delete(NAME));
}

/** Returns a proof that the page has the key. The proof is valid for this connection and this address only. */
export async function proofFor(key: Key, challenge: string): Promise<string> {
  if (typeof key === "string") return key;
  const text = new TextEncoder().encode(proofText(challenge, window.location.host));
  return base64Url(new Uint8Array(await crypto.subtle.sign(HMAC.name, key, text)));
}

const [DATABASE, STORE, NAME] = ["banyan", "keys", "page"];

function inStore<T>(mode: IDBTransactionMode, use: (keys: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const opened = indexedDB.open(DATABASE, 1);
    opened.onupgradeneeded = () => opened.result.createObjectStore(STORE);
    opened.onerror = () => reject(opened.error);
    opened.onsuccess = () => {
      const database = opened.result;
      const transaction = database.transaction(STORE, mode);
      const request = use(transaction.objectStore(STORE));
      transaction.oncomplete = () => {
        database.close();
        resolve(request.result);
      };
      transaction.onabort = () => {
        database.close();
        reject(transaction.error);
      };
    };
  });
}

function decodeBase64Url(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}
