import { readFileSync } from "node:fs";
import type { Row } from "./results.ts";

/**
 * A figure that docs/performance.md states. The row of its table has the figure's name in a comment, such as
 * `<!-- bench: stream / CPU per chunk / engine ÷ best peer -->`. Several names, separated by `;`, name the numbers of
 * the row's third cell in their order.
 */
export interface Claim {
  readonly measure: string;
  readonly figure: string;
  readonly subject: string;
  /** The bound of a ratio. Absent: the figure itself. */
  readonly of?: string;
  readonly value: number;
}

/** The factor by which a figure may exceed its claim: other machines differ by a third, and a busy machine by more. */
const MARGIN = 1.6;

const PAGE = new URL("../../docs/performance.md", import.meta.url);

/** Returns the claims of docs/performance.md. Throws for a row whose numbers do not match its names. */
export function readClaims(page: string = readFileSync(PAGE, "utf8")): Claim[] {
  return page.split("\n").flatMap((line) => {
    const [, names] = /<!-- bench: (.*?) -->/.exec(line) ?? [];
    if (names === undefined) return [];
    const [, , , cell = ""] = line.split("|");
    const values = [...cell.matchAll(/(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?/g)].map(([text]) =>
      Number(text.replaceAll(",", "")),
    );
    const named = names.split(";");
    if (named.length !== values.length)
      throw new Error(`docs/performance.md names ${named.length} figures, but has ${values.length} numbers: ${line}`);
    return named.map((name, index) => claimOf(name, values[index] as number));
  });
}

function claimOf(name: string, value: number): Claim {
  const [measure = "", figure = "", rest = ""] = name.split("/").map((part) => part.trim());
  const [subject = "", of] = rest.split("÷").map((part) => part.trim());
  return { measure, figure, subject, value, ...(of !== undefined && { of }) };
}

/** Returns a sentence for each claim that the rows of a measure do not reproduce. Figures without a row are not checked. */
export function wrongClaims(measure: string, rows: readonly Row[], claims: readonly Claim[]): string[] {
  return claims.flatMap((claim) => {
    if (claim.measure !== measure) return [];
    const { figure, subject, of, value } = claim;
    const row = rows.find((one) => one.figure === figure && one.subject === subject);
    const is = of === undefined ? row?.median : row?.ratios[of];
    if (is === undefined || is <= value * MARGIN) return [];
    const name = `${figure}, ${subject}${of === undefined ? "" : ` ÷ ${of}`}`;
    return [`docs/performance.md claims ${value} for ${name}, but this run has ${Number(is.toPrecision(3))}.`];
  });
}
