import type { Measure, Sample } from "./measure.ts";
import { median } from "./statistics.ts";

/** What the rounds of a measure came to, for one figure of one subject. */
export interface Row {
  readonly figure: string;
  readonly unit: string;
  readonly subject: string;
  readonly median: number;
  readonly least: number;
  readonly most: number;
  /** The median as a multiple of that of each bound, by the bound's name. Only these are to be compared between runs. */
  readonly ratios: Readonly<Record<string, number>>;
}

/** The rows of a measure from its samples, one for each round, by subject. */
export function summarise(measure: Measure, samples: ReadonlyMap<string, readonly Sample[]>): Row[] {
  const rows: Row[] = [];
  for (const { name: figure, unit } of measure.figures) {
    const valuesOf = (subject: string) => (samples.get(subject) ?? []).map((sample) => sample[figure] ?? Number.NaN);
    for (const subject of samples.keys()) {
      const values = valuesOf(subject);
      const middle = median(values);
      const bounds = measure.bounds.filter((bound) => samples.has(bound));
      const ratios = Object.fromEntries(bounds.map((bound) => [bound, middle / median(valuesOf(bound))]));
      rows.push({
        figure,
        unit,
        subject,
        median: middle,
        least: Math.min(...values),
        most: Math.max(...values),
        ratios,
      });
    }
  }
  return rows;
}

/** The rows as a table for people. */
export function table(rows: readonly Row[]): string {
  const bounds = Object.keys(rows[0]?.ratios ?? {});
  const head = ["figure", "subject", "median", "spread", ...bounds.map((bound) => `÷ ${bound}`)];
  const lines = rows.map((row, index) => [
    rows[index - 1]?.figure === row.figure ? "" : `${row.figure}, ${row.unit}`,
    row.subject,
    readable(row.median),
    `${readable(row.least)} to ${readable(row.most)}`,
    ...bounds.map((bound) => (row.ratios[bound] ?? Number.NaN).toFixed(2)),
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...lines].map((line) => line[column]?.length ?? 0)));
  const shown = [head, ...lines].map((line) =>
    line.map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))),
  );
  return shown.map((line) => `  ${line.join("  ").trimEnd()}`).join("\n");
}

/** Three digits that say something. */
function readable(value: number): string {
  return Math.abs(value) >= 100 ? Math.round(value).toLocaleString("en-GB") : String(Number(value.toPrecision(3)));
}
