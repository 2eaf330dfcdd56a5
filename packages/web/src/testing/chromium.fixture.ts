import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The headless program first: the others also draw tabs and menus, and take half as long again. */
const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

const FOLDERS = ["/usr/bin", ...(process.env.PATH ?? "").split(delimiter)];

/** The system's Chromium: `CHROMIUM`, or the first in the usual folder or on the path. */
export const chromiumPath = [
  process.env.CHROMIUM,
  ...NAMES.flatMap((name) => FOLDERS.map((folder) => join(folder, name))),
].find((path) => path !== undefined && path !== "" && isProgram(path));

/** The suffix of test titles without a browser. */
export const whyNot = chromiumPath === undefined ? " (skipped: no Chromium; name one with CHROMIUM)" : "";

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Missing or not executable.
    return false;
  }
}
