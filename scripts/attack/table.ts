import type { Outcome, Tried } from "./tried.ts";

/** Returns a line of counts for each rule, then a sentence for each attack that succeeded or could not be tried. */
export function table(tried: readonly Tried[]): string {
  const rules = [...new Set(tried.map(({ rule }) => rule))];
  const rows = rules.map((rule) =>
    rowOf(
      rule,
      tried.filter((one) => one.rule === rule),
    ),
  );
  const sum = rowOf("all", tried);
  const head = ["rule", "attacks", "held", "broken", "not tried"];
  const lines = [head, ...rows, ...(rows.length > 1 ? [sum] : [])].map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(6) : cell.padStart(10))).join(""),
  );
  const sentences = (["broken", "not-tried"] as const).flatMap((type) =>
    tried.flatMap(({ rule, name, outcome }) =>
      outcome.type === type ? [`${rule} ${type === "broken" ? "BROKEN" : "not tried"}: ${name}: ${outcome.why}`] : [],
    ),
  );
  return [...lines, ...(sentences.length > 0 ? ["", ...sentences] : [])].join("\n");
}

function rowOf(rule: string, tried: readonly Tried[]): string[] {
  const count = (type: Outcome["type"]) => tried.filter(({ outcome }) => outcome.type === type).length;
  return [rule, ...[tried.length, count("held"), count("broken"), count("not-tried")].map(String)];
}
