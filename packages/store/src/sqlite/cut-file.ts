import { closeSync, fstatSync, ftruncateSync, openSync, readSync } from "node:fs";

/** The most that is given back: a damaged header must not fill a disk. */
const LONGEST = 1024 ** 3;

/**
 * Gives a database file that was cut the length back that its header says (https://sqlite.org/fileformat2.html), with
 * zeros. SQLite refuses a file that is too short; after this, what is left of it can be read. Nothing that is there
 * changes. Answers whether there was something to do.
 */
export function restoreLength(file: string): boolean {
  const descriptor = openSync(file, "r+");
  try {
    const header = Buffer.alloc(100);
    readSync(descriptor, header, 0, header.length, 0);
    if (header.toString("latin1", 0, 16) !== "SQLite format 3\0") return false;
    const pageSize = header.readUInt16BE(16);
    const length = (pageSize === 1 ? 65_536 : pageSize) * header.readUInt32BE(28);
    const { size } = fstatSync(descriptor);
    if (size >= length || length > size + LONGEST) return false;
    ftruncateSync(descriptor, length);
    return true;
  } finally {
    closeSync(descriptor);
  }
}
