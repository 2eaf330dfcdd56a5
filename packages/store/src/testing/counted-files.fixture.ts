import { syncBuiltinESMExports } from "node:module";

/** Numbers of accesses to files. */
export interface FileAccesses {
  /** Files whose time and size were read. */
  readonly looks: number;
  /** Databases that were opened. */
  readonly opened: number;
}

/** Runs `body`, and counts the accesses of this thread to files below `directory`. */
export async function countAccesses(directory: string, body: () => Promise<unknown>): Promise<FileAccesses> {
  const counts = { looks: 0, opened: 0 };
  const sqlite = process.getBuiltinModule("node:sqlite") as { DatabaseSync: new (...given: never[]) => object };
  const fs = process.getBuiltinModule("node:fs") as { statSync: (...given: unknown[]) => unknown };
  const { statSync } = fs;
  const { DatabaseSync } = sqlite;
  const isHere = (path: unknown) => decodeURI(String(path)).includes(`${directory}/`);
  fs.statSync = (...given) => {
    if (isHere(given[0])) counts.looks++;
    return statSync(...given);
  };
  syncBuiltinESMExports();
  sqlite.DatabaseSync = class extends DatabaseSync {
    constructor(...given: never[]) {
      super(...given);
      if (isHere(given[0])) counts.opened++;
    }
  };
  try {
    await body();
    return counts;
  } finally {
    fs.statSync = statSync;
    syncBuiltinESMExports();
    sqlite.DatabaseSync = DatabaseSync;
  }
}
