import { readFileSync } from "node:fs";
import type { Row } from "./results.ts";

/**
 * A figure that a page states. A comment behind the number has the figure's name, such as
 * `0.08 <!-- bench: stream / CPU per chunk / engine ÷ best peer -->`. Several names, separated by `;`, name the numbers
 * before the comment in their order.
 */
export interface Claim {
  readonly page: string;
  readonly measure: string;
  readonly figure: string;
  readonly subject: string;
  /** The bound of a ratio. Absent: the figure itself. */
  readonly of?: string;
  readonly value: number;
}

const PAGES = ["docs/performance.md", "bench/targets.md"];

/** The factor by which a figure may exceed its claim: other machines differ by a third, and a busy machine by more. */
const MARGIN = 1.6;

/** Returns the claims of all pages. */
export function readClaims(): Claim[] {
  return PAGES.flatMap((page) => claimsIn(page, readFileSync(new URL(`../../${page}`, import.meta.url), "utf8")));
}

/** Returns the claims of a page. Throws for a cell of a table whose numbers do not match its names. */
export function claimsIn(page: string, text: string): Claim[] {
  return [...text.matchAll(/([^|\n]*)<!-- bench: (.*?) -->/g)].flatMap(([, cell = "", names = ""]) => {
    const values = [...cell.matchAll(/(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?/g)].map(([number]) =>
      Number(number.replaceAll(",", "")),
    );
    const named = names.split(";");
    if (named.length !== values.length)
      throw new Error(`${page} names ${named.length} figures, but has ${values.length} numbers: ${cell}${names}`);
    return named.map((name, index) => claimOf(page, name, values[index] as number));
  });
}

function claimOf(page: string, name: string, value: number): Claim {
  const [measure = "", figure = "", rest = ""] = name.split("/").map((part) => part.trim());
  const [subject = "", of] = rest.split("÷").map((part) => part.trim());
  return { page, measure, figure, subject, value, ...(of !== undefined && { of }) };
}

/** Returns a sentence for each claim that the rows of a measure do not reproduce. Figures without a row are not checked. */
export function wrongClaims(measure: string, rows: readonly Row[], claims: readonly Claim[]): string[] {
  return claims.flatMap((claim) => {
    if (claim.measure !== measure) return [];
    const { page, figure, subject, of, value } = claim;
    const row = rows.find((one) => one.figure === figure && one.subject === subject);
    const is = of === undefined ? row?.median : row?.ratios[of];
    if (is === undefined || is <= value * MARGIN) return [];
    const name = `${figure}, ${subject}${of === undefined ? "" : ` ÷ ${of}`}`;
    return [`${page} claims ${value} for ${name}, but this run has ${Number(is.toPrecision(3))}.`];
  });
}
