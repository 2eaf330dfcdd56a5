import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createId } from "@banyan/core";
import type { Principal, ShareStore } from "@banyan/desk";
import { ShareError, sharePrincipal } from "@banyan/desk/serving";
import { replaceJsonFile, SettingsError } from "@banyan/host";
import type { Share } from "@banyan/protocol";
import { randomToken } from "./secret.ts";

/** A link as the server stores it. The digest does not reveal the token. */
interface StoredShare extends Share {
  readonly digest: string;
}

/** Maximum number of valid links at once: the server checks each when a page connects. */
const MOST_SHARES = 200;

/** The longest delay of a timer, in milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * The links that show one conversation to anyone who has them (S29). Each link has a principal, whose signal aborts when the link
 * ends. Without a file, links last as long as the process.
 */
export class KeptShares implements ShareStore, Disposable {
  readonly #file: string | undefined;
  readonly #shares = new Map<
    string,
    { readonly kept: StoredShare; readonly principal: Principal; readonly end: () => void }
  >();
  /** Links that are revoked, and that the file still has because it could not be written. */
  readonly #unstored = new Set<string>();

  /** Throws when the file exists but holds no list of links: the operator must decide what to do with it. */
  constructor(file?: string) {
    this.#file = file;
    for (const kept of keptIn(file)) this.#add(kept);
  }

  /** Creates a link and its token, which only this call returns. Throws `ShareError` for too many links or an unwritable file. */
  create(
    shown: { readonly conversation: string; readonly leaf?: string },
    seconds: number,
    now = Date.now(),
  ): { share: Share; token: string } {
    if (this.list().length >= MOST_SHARES)
      throw new ShareError(`There are ${MOST_SHARES} links, the most that a server allows. Revoke one first.`);
    const token = randomToken();
    const share = { id: createId(), ...shown, createdAt: now, expiresAt: now + seconds * 1_000 };
    this.#add({ ...share, digest: tokenDigest(token) });
    try {
      this.#save("No link was created.");
    } catch (error) {
      this.#shares.get(share.id)?.end();
      throw error;
    }
    return { share, token };
  }

  /** The valid links, the newest first. */
  list(conversation?: string, now = Date.now()): Share[] {
    return [...this.#shares.values()]
      .flatMap(({ kept: { digest: _, ...share } }) => (share.expiresAt > now ? [share] : []))
      .filter((share) => conversation === undefined || share.conversation === conversation)
      .sort((a, b) => b.createdAt - a.createdAt);
  }

  /** Revokes a link. Returns whether a link of this id existed. Throws `ShareError` if the file cannot be written. */
  revoke(id: string): boolean {
    return this.#revoke([id]);
  }

  /** Revokes all links to a removed conversation: a later conversation of the same id is a different one. */
  forget(conversation: string): void {
    this.#revoke(this.list(conversation).map(({ id }) => id));
  }

  /** The principal of a token; `undefined` for an unknown token or an expired link. */
  byToken(token: string): { readonly principal: Principal; readonly digest: string } | undefined {
    const digest = tokenDigest(token);
    return this.good().find((share) => share.digest === digest);
  }

  /** The principals of all valid links, each with the digest of its token. */
  good(now = Date.now()): { readonly principal: Principal; readonly digest: string }[] {
    const good = [...this.#shares.values()].filter(({ kept }) => kept.expiresAt > now);
    return good.map(({ kept: { digest }, principal }) => ({ digest, principal }));
  }

  /** Ends all links until the server starts again. */
  [Symbol.dispose](): void {
    for (const { end } of this.#shares.values()) end();
  }

  #add(kept: StoredShare): void {
    const { id, conversation, leaf, expiresAt } = kept;
    const ended = new AbortController();
    let timer: NodeJS.Timeout;
    const wait = () => {
      const left = expiresAt - Date.now();
      if (left <= 0) return end();
      timer = setTimeout(wait, Math.min(left, LONGEST_TIMER)).unref();
    };
    const end = () => {
      clearTimeout(timer);
      this.#shares.delete(id);
      ended.abort();
    };
    const shown = { conversation, ...(leaf !== undefined && { leaf }) };
    const principal = sharePrincipal({ ...shown, expiresAt, ended: ended.signal });
    this.#shares.set(id, { kept, principal, end });
    wait();
  }

  /** Ends the links of these ids at once, and then stores that. Returns whether any of them existed. */
  #revoke(ids: readonly string[]): boolean {
    const known = ids.filter((id) => this.#shares.has(id) || this.#unstored.has(id));
    for (const id of known) {
      this.#shares.get(id)?.end();
      this.#unstored.add(id);
    }
    if (known.length > 0)
      this.#save("The link no longer opens, but a restart of the server would open it again. Revoke it once more.");
    return known.length > 0;
  }

  /** Stores all links. Throws `ShareError` with what happened and this advice. */
  #save(advice: string): void {
    const shares = [...this.#shares.values()].map(({ kept }) => kept);
    try {
      if (this.#file !== undefined) replaceJsonFile(this.#file, { shares });
    } catch (cause) {
      if (!(cause instanceof SettingsError)) throw cause;
      throw new ShareError(`${cause.message} ${advice}`, { cause });
    }
    this.#unstored.clear();
  }
}

/** The stored form of a token. */
function tokenDigest(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}

function keptIn(file: string | undefined): readonly StoredShare[] {
  let text: string;
  try {
    text = file === undefined ? '{"shares":[]}' : readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
  try {
    const { shares } = JSON.parse(text) as { readonly shares: readonly StoredShare[] };
    if (shares.every(isStoredShare)) return shares;
  } catch {
    // The error below covers this case, too, like JSON that is no list of links.
  }
  throw new Error(`${file} can't be read. To continue, remove the file: all links made before stop working.`);
}

function isStoredShare(kept: Partial<StoredShare> | null): boolean {
  const texts = [kept?.id, kept?.conversation, kept?.digest, kept?.leaf ?? ""];
  return (
    texts.every((each) => typeof each === "string") &&
    Number.isFinite(kept?.expiresAt) &&
    Number.isFinite(kept?.createdAt)
  );
}
