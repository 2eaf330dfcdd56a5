/** Something in the workspace that no snapshot keeps. See {@link WorkspaceSnapshots}. */
export interface LeftOut {
  readonly path: string;
  /**
   * Why no snapshot keeps the path. `cache`: a folder that can be rebuilt from other files. `special`: not a file, such
   * as a pipe. `name`: the name is not text.
   */
  readonly why: "cache" | "large" | "ignored" | "full" | "special" | "unreadable" | "name";
  /** Bytes, if known. */
  readonly size?: number | undefined;
}

/** A recorded moment, with the paths that no snapshot keeps. */
export interface MomentRecord {
  readonly moment: number;
  readonly leftOut: readonly LeftOut[];
  /** The repositories, which no snapshot keeps, and the files with another name, which may be outside. */
  readonly untouched: readonly string[];
  /** Number of changed files and links. */
  readonly changedFiles: number;
}
