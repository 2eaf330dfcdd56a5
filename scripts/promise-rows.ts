import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");

/** The series of promise numbers by the page with their rows. A page may be added after its series. */
const SERIES: Readonly<Record<string, string>> = {
  "docs/editing.md": "E",
  "docs/editors.md": "A",
  "docs/promises.md": "BCEFKLV",
  "docs/security.md": "S",
  "docs/terminal.md": "T",
  "docs/web.md": "W",
};

/** One number of a row. A row may have several numbers, as in `| W80, W81 | ... |`. */
export interface PromiseRow {
  readonly number: string;
  readonly page: string;
  readonly heading: string;
  /** The names in backticks in the last cell: files or tests. */
  readonly names: readonly string[];
  /** True if the last cell is empty: the row names something that is not promised. */
  readonly isOpen: boolean;
}

/** If a page repeats a promise of another page, its row is not counted again. */
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
 * Returns the promise numbers at the start of test names in a source, alone or in a list: `"B21, F25: ..."`, `"F7
 * ..."`. Tests that only run in long mode do not count.
 */
export function numbersProvedIn(source: string): string[] {
  const everyday = source.replace(LONG_TITLE, "");
  return Array.from(everyday.matchAll(TITLE), ([, before, quoted]) => (before ?? quoted ?? "").split(", ")).flat();
}

const LONG_TITLE = /\.(runIf|skipIf)\(.*LONG.*\)(\.each\(.*\))?\(\s*["`].*/gi;
const NUMBERS = listOf(`[${Object.values(SERIES).join("")}][1-9][0-9]*`);
const TITLE = new RegExp(`\\b(${NUMBERS}):|"(${NUMBERS}) `, "g");

function listOf(number: string): string {
  return `${number}(?:, ${number})*`;
}
