import type { Measure, Sample, Target } from "./measure.ts";
import { median } from "./statistics.ts";

/** What the rounds of a measure came to, for one figure of one subject. */
export interface Row {
  readonly figure: string;
  readonly unit: string;
  readonly subject: string;
  readonly median: number;
  readonly least: number;
  readonly most: number;
  /**
   * The median as a multiple of that of each bound, by the bound's name, and of that of the best rival. Only these are
   * to be compared between runs.
   */
  readonly ratios: Readonly<Record<string, number>>;
}

const BEST = "best peer";

/** The rows of a measure from its samples, one for each round, by subject. A figure that a subject does not have has none. */
export function summarise(measure: Measure, samples: ReadonlyMap<string, readonly Sample[]>): Row[] {
  const rows: Row[] = [];
  for (const { name: figure, unit } of measure.figures) {
    const valuesOf = (subject: string) =>
      (samples.get(subject) ?? []).map((sample) => sample[figure]).filter((value) => value !== undefined);
    const medians = new Map([...samples.keys()].map((subject) => [subject, median(valuesOf(subject))]));
    const limits = measure.bounds.map((bound) => [bound, medians.get(bound) ?? Number.NaN] as const);
    const rivals = (measure.rivals ?? []).map((rival) => medians.get(rival) ?? Number.NaN).filter(Number.isFinite);
    const compared = [...limits, [BEST, Math.min(...rivals)] as const].filter(([, limit]) => Number.isFinite(limit));
    for (const [subject, middle] of medians) {
      const values = valuesOf(subject);
      if (values.length === 0) continue;
      rows.push({
        figure,
        unit,
        subject,
        median: middle,
        least: Math.min(...values),
        most: Math.max(...values),
        ratios: Object.fromEntries(compared.map(([name, limit]) => [name, middle / limit])),
      });
    }
  }
  return rows;
}

/** Whether a target is met, and by what. */
export interface Verdict extends Target {
  readonly is: number;
  readonly met: boolean;
}

/** What the rows say of the targets of a measure; nothing of those that need what was not measured. */
export function verdicts({ targets = [] }: Measure, rows: readonly Row[]): Verdict[] {
  return targets.flatMap((target) => {
    const row = rows.find(({ figure, subject }) => figure === target.figure && subject === target.subject);
    const is = target.of === undefined ? row?.median : row?.ratios[target.of];
    return is === undefined ? [] : [{ ...target, is, met: is <= target.most }];
  });
}

/** A verdict as a sentence. */
export function sentence({ figure, subject, of, most, is, met }: Verdict): string {
  const times = of === undefined ? "" : ` times ${of}`;
  return `${met ? "met   " : "missed"}  ${figure}, ${subject}: ${readable(is)}${times}; wanted: at most ${readable(most)}`;
}

/** The rows as a table for people. */
export function table(rows: readonly Row[]): string {
  const bounds = [...new Set(rows.flatMap(({ ratios }) => Object.keys(ratios)))];
  const head = ["figure", "subject", "median", "spread", ...bounds.map((bound) => `÷ ${bound}`)];
  const lines = rows.map((row, index) => [
    rows[index - 1]?.figure === row.figure ? "" : `${row.figure}, ${row.unit}`,
    row.subject,
    readable(row.median),
    `${readable(row.least)} to ${readable(row.most)}`,
    ...bounds.map((bound) => row.ratios[bound]?.toFixed(2) ?? ""),
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
