import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The one that is made to have no window first: the others draw their tabs and menus too, and take half as long again. */
const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

const FOLDERS = ["/usr/bin", ...(process.env.PATH ?? "").split(delimiter)];

/** The system's Chromium: what `CHROMIUM` says, else the first in the usual place or on the path. */
export const chromiumPath = [
  process.env.CHROMIUM,
  ...NAMES.flatMap((name) => FOLDERS.map((folder) => join(folder, name))),
].find((path) => path !== undefined && path !== "" && isProgram(path));

/** What stands behind the name of a test that no browser is there for. */
export const whyNot = chromiumPath === undefined ? " (skipped: no Chromium; name one with CHROMIUM)" : "";

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Not there, or not to be run.
    return false;
  }
}
