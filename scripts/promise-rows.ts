import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");

/** The series of numbered promises, by the page that has their rows. A page may come later than its series. */
const SERIES: Readonly<Record<string, string>> = {
  "docs/editing.md": "E",
  "docs/editors.md": "A",
  "docs/library.md": "L",
  "docs/performance.md": "V",
  "docs/promises.md": "BCF",
  "docs/security.md": "S",
  "docs/terminal.md": "T",
  "docs/web.md": "W",
};

/** One number of a row: a row may begin with several, as in `| W80, W81 | ... |`. */
export interface PromiseRow {
  /** Such as `B16`. */
  readonly number: string;
  readonly page: string;
  /** The heading above the row. */
  readonly heading: string;
  /** What the last cell names between backticks: files, or tests. */
  readonly names: readonly string[];
  /** Whether the last cell is empty: the row says what is not promised. */
  readonly isOpen: boolean;
}

/** Rows of all pages. A page may also list a promise of another page: that row is not counted again. */
export const PROMISE_ROWS: readonly PromiseRow[] = Object.entries(SERIES).flatMap(([page, series]) =>
  existsSync(join(ROOT, page)) ? rowsOf(page, `[${series}][1-9][0-9]*`) : [],
);

function rowsOf(page: string, number: string): PromiseRow[] {
  const row = new RegExp(`^\\| (${listOf(number)}) \\|(.*)\\|$`, "gm");
  return readFileSync(join(ROOT, page), "utf8")
    .split(/^(?=#+ )/m)
    .flatMap((part) => {
      const [heading = ""] = part.split("\n", 1);
      return [...part.matchAll(row)].flatMap(([, numbers = "", cells = ""]) => {
        const last = cells.split("|").at(-1) ?? "";
        const names = Array.from(last.matchAll(/`([^`]+)`/g), ([, name = ""]) => name);
        return numbers.split(", ").map((number) => ({ number, page, heading, names, isOpen: last.trim() === "" }));
      });
    });
}

/**
 * The numbers that names of tests in a source begin with, alone or in a list: `"B21, F25: ..."`, `"F7 ..."`. Tests that run in
 * long mode alone do not count.
 */
export function numbersProvedIn(source: string): string[] {
  const everyday = source.replace(LONG_TITLE, "");
  return Array.from(everyday.matchAll(TITLE), ([, before, quoted]) => (before ?? quoted ?? "").split(", ")).flat();
}

/** As in `test.runIf(LONG)("...` and `test.skipIf(!process.env.BANYAN_LONG)("...`. */
const LONG_TITLE = /\.(runIf|skipIf)\(.*LONG.*\)(\.each\(.*\))?\(\s*["`].*/gi;
const NUMBERS = listOf(`[${Object.values(SERIES).join("")}][1-9][0-9]*`);
const TITLE = new RegExp(`\\b(${NUMBERS}):|"(${NUMBERS}) `, "g");

function listOf(number: string): string {
  return `${number}(?:, ${number})*`;
}
