import { readFileSync, writeFileSync } from "node:fs";
import type { Row } from "./results.ts";

/** Earlier ratios, by measure, figure, subject and bound. */
export type Baselines = Readonly<Record<string, Ratios>>;

type Ratios = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, number>>>>>>;

/** The factor by which a ratio may exceed its baseline: on a busy machine, a ratio varies by a third. */
const MARGIN = 1.6;

const FILE = new URL("../baselines.json", import.meta.url);

export function readBaselines(): Baselines {
  return JSON.parse(readFileSync(FILE, "utf8"));
}

/** Stores the ratios of these measures as the baselines of later runs. */
export function keepBaselines(measured: ReadonlyMap<string, readonly Row[]>): void {
  const baselines: Record<string, Ratios> = { ...readBaselines() };
  for (const [measure, rows] of measured) {
    const figures: Record<string, Record<string, Record<string, number>>> = {};
    for (const { figure, subject, ratios } of rows) {
      const rounded = Object.entries(ratios).map(([bound, ratio]) => [bound, Number(ratio.toPrecision(3))]);
      figures[figure] ??= {};
      figures[figure][subject] = Object.fromEntries(rounded);
    }
    baselines[measure] = figures;
  }
  writeFileSync(FILE, `${JSON.stringify(baselines, undefined, 2)}\n`);
}

/** Returns a sentence for each of our ratios that clearly exceeds its baseline. */
export function regressions(measure: string, rows: readonly Row[], baselines: Baselines): string[] {
  return rows.flatMap(({ figure, subject, ratios }) =>
    Object.entries(ratios).flatMap(([bound, ratio]) => {
      const baseline = baselines[measure]?.[figure]?.[subject]?.[bound];
      if (baseline === undefined || ratio <= baseline * MARGIN) return [];
      // A peer's ratio to our subject only grows if our subject became faster.
      if (isOurs(bound) && !isOurs(subject)) return [];
      return [`${figure}, ${subject}: ${ratio.toFixed(2)} times ${bound}; the baseline is ${baseline}.`];
    }),
  );
}

function isOurs(subject: string): boolean {
  return subject.startsWith("engine");
}
