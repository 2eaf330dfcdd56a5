import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The system's Chromium: what `CHROMIUM` says, else the one in the usual place or on the path. */
export const chromiumPath = [
  process.env.CHROMIUM,
  "/usr/bin/chromium",
  ...(process.env.PATH ?? "")
    .split(delimiter)
    .flatMap((folder) => ["chromium", "chromium-browser", "google-chrome"].map((name) => join(folder, name))),
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
