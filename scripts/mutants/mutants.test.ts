import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { MUTANTS } from "./list.ts";
import { mutated } from "./mutant.ts";
import { failuresWith } from "./run.ts";

test("F31: each mutant names a line that is there, and tests that are", () => {
  expect(MUTANTS.length).toBeGreaterThan(50);
  for (const mutant of MUTANTS) {
    const source = read(mutant.file);
    expect(mutated(source, mutant)).not.toBe(source);
    for (const file of mutant.tests) expect(read(file)).toContain("test");
  }
});

test.runIf(process.env.BANYAN_LONG === "1")(
  "F31: no mutant survives its tests",
  async () => {
    const survivors: string[] = [];
    for (const mutant of MUTANTS)
      if ((await failuresWith(mutant)) === 0) survivors.push(`${mutant.file}: ${mutant.line}`);
    expect(survivors).toEqual([]);
  },
  3_600_000,
);

test.runIf(process.env.BANYAN_LONG)(
  "F31: a mutant that changes nothing survives, so that one which is killed is killed by its change",
  async () => {
    const [first] = MUTANTS;
    expect(await failuresWith({ ...first, instead: first?.line } as (typeof MUTANTS)[number])).toBe(0);
  },
);

function read(file: string): string {
  return readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), "utf8");
}
