/**
 * What a person of this machine allowed in one conversation. A log tells what was said, wherever it was written; only what
 * stands here lets a call run unasked (S17).
 */
export interface Rights {
  /** Permission rules that they answered with "always", the oldest first. */
  readonly rules: readonly string[];
  /** Calls that they allowed and that have no result yet: what runs, as a digest, by the call's id. */
  readonly calls: Readonly<Record<string, string>>;
}

/**
 * Where a store keeps the rights of one log: apart from it, so that whoever copies a log, or writes one, brings none. It
 * belongs to the log's one writer. Each rejects or throws `StoreError`.
 */
export interface RightsPlace {
  /** `undefined`: the log was not begun in this store. Somebody put it there as it is. */
  read(): Rights | undefined | Promise<Rights | undefined>;
  /** What is kept from now on. It survives a power cut once it is done. */
  write(rights: Rights): void | Promise<void>;
}

/** Nothing is allowed. */
export const noRights: Rights = Object.freeze({ rules: [], calls: {} });
