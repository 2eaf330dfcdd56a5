import type { Measure, Sample, Target } from "./measure.ts";
import { median } from "./statistics.ts";

/** A figure's values for a subject, over all rounds of a measure. */
export interface Row {
  readonly figure: string;
  readonly unit: string;
  readonly subject: string;
  readonly median: number;
  readonly least: number;
  readonly most: number;
  /**
   * The median as a multiple of each bound's median, by the bound's name, and of the best rival's. Compare only these
   * ratios between runs.
   */
  readonly ratios: Readonly<Record<string, number>>;
}

const BEST = "best peer";

/** Returns the rows of a measure from its samples, one sample per round and subject. Missing figures give no row. */
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

/** The result of comparing a measured value with its target. */
export interface Verdict extends Target {
  readonly is: number;
  readonly met: boolean;
}

/** Returns the verdicts on a measure's targets; none for targets without measured values. */
export function verdicts({ targets = [] }: Measure, rows: readonly Row[]): Verdict[] {
  return targets.flatMap((target) => {
    const row = rows.find(({ figure, subject }) => figure === target.figure && subject === target.subject);
    const is = target.of === undefined ? row?.median : row?.ratios[target.of];
    return is === undefined ? [] : [{ ...target, is, met: is <= target.most }];
  });
}

/** Returns a verdict as a sentence. */
export function sentence({ figure, subject, of, most, is, met }: Verdict): string {
  const times = of === undefined ? "" : ` times ${of}`;
  return `${met ? "met   " : "missed"}  ${figure}, ${subject}: ${readable(is)}${times}; wanted: at most ${readable(most)}`;
}

/** Returns the rows as a readable table. */
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

/** Rounds to three significant digits. */
function readable(value: number): string {
  return Math.abs(value) >= 100 ? Math.round(value).toLocaleString("en-GB") : String(Number(value.toPrecision(3)));
}
