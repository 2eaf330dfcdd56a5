/**
 * Permissions that a user of this machine gave in one conversation. A log may come from anywhere, so only these
 * permissions let a call run without a question (S17). See {@link noRights}.
 */
export interface Rights {
  /** Permission rules from the answer "always", the oldest first. */
  readonly rules: readonly string[];
  /** Allowed calls that have no result yet, by id. Each value is a digest of the call and its arguments. */
  readonly calls: Readonly<Record<string, string>>;
}

/**
 * Storage for the permissions of one log. It is separate from the log, so that a copied or forged log brings no
 * permissions. Only the writer of the log uses it. Methods throw or reject with `StoreError`. See {@link Session}.
 */
export interface RightsPlace {
  /** Returns the rights. `undefined`: the log was not begun in this store, but copied into it. */
  read(): Rights | undefined | Promise<Rights | undefined>;
  /** Replaces the rights. They survive a power cut once this is done. */
  write(rights: Rights): void | Promise<void>;
}

/**
 * Empty `Rights`: no rule and no call is allowed.
 * @example console.log(noRights.rules.length);
 */
export const noRights: Rights = Object.freeze({ rules: [], calls: {} });
