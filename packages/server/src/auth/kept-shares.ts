import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createId } from "@banyan/core";
import type { Principal, ShareStore } from "@banyan/desk";
import { ShareError, sharePrincipal } from "@banyan/desk/serving";
import { replaceJsonFile, SettingsError } from "@banyan/host";
import type { Share } from "@banyan/protocol";
import { randomToken } from "./secret.ts";

interface StoredShare extends Share {
  readonly digest: string;
}

/** Maximum number of valid links at once: the server checks each when a page connects. */
const MOST_SHARES = 200;

const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * The links that show one conversation to anyone who has them (S29). Each link has a principal, whose signal aborts
 * when the link ends. Without a file, links last as long as the process.
 */
export class KeptShares implements ShareStore, Disposable {
  readonly #file: string | undefined;
  readonly #shares = new Map<
    string,
    { readonly kept: StoredShare; readonly principal: Principal; readonly end: () => void }
  >();
  /** Revoked links that are still in the file, because the file could not be written. */
  readonly #unstored = new Set<string>();

  /** Throws if the file exists but has no list of links: the operator must decide what to do with it. */
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
      throw new ShareError(`A server allows at most ${MOST_SHARES} links. Revoke a link first.`);
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

  /** Revokes a link. Returns whether the link existed. Throws `ShareError` if the file cannot be written. */
  revoke(id: string): boolean {
    return this.#revoke([id]);
  }

  /** Revokes all links to a removed conversation, because a later conversation may get the same id. */
  forget(conversation: string): void {
    this.#revoke(this.list(conversation).map(({ id }) => id));
  }

  byToken(token: string): { readonly principal: Principal; readonly digest: string } | undefined {
    const digest = tokenDigest(token);
    return this.good().find((share) => share.digest === digest);
  }

  good(now = Date.now()): { readonly principal: Principal; readonly digest: string }[] {
    const good = [...this.#shares.values()].filter(({ kept }) => kept.expiresAt > now);
    return good.map(({ kept: { digest }, principal }) => ({ digest, principal }));
  }

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

  /** Ends the links of these ids at once, then updates the file. Returns whether any of them existed. */
  #revoke(ids: readonly string[]): boolean {
    const known = ids.filter((id) => this.#shares.has(id) || this.#unstored.has(id));
    for (const id of known) {
      this.#shares.get(id)?.end();
      this.#unstored.add(id);
    }
    if (known.length > 0)
      this.#save(
        "The link no longer works, but would work again after a restart of the server. Revoke the link once more.",
      );
    return known.length > 0;
  }

  /** Stores all links. Throws `ShareError` with the reason and `advice`. */
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
    // The error below also covers an unreadable file and JSON that is no list of links.
  }
  throw new Error(`${file} can't be read. To continue, remove the file. All existing links then stop working.`);
}

function isStoredShare(kept: Partial<StoredShare> | null): boolean {
  const texts = [kept?.id, kept?.conversation, kept?.digest, kept?.leaf ?? ""];
  return (
    texts.every((each) => typeof each === "string") &&
    Number.isFinite(kept?.expiresAt) &&
    Number.isFinite(kept?.createdAt)
  );
}
