import { MUTANTS } from "./list.ts";
import { failuresWith } from "./run.ts";

/**
 * `npm run mutants [words]`: breaks the promises of the product one by one, and checks that a test fails. With words,
 * only the mutants whose file or line contains a word.
 */
const words = process.argv.slice(2);
const chosen = MUTANTS.filter(
  ({ file, line }) => words.length === 0 || words.some((word) => `${file} ${line}`.includes(word)),
);
let survived = 0;
for (const mutant of chosen) {
  const failures = await failuresWith(mutant);
  if (failures === 0) survived++;
  const nth = mutant.nth === undefined ? "" : ` (${mutant.nth})`;
  process.stdout.write(
    `${failures > 0 ? "killed  " : "SURVIVED"} ${mutant.file}: ${mutant.line.split("\n", 1)}${nth}\n`,
  );
}
process.stdout.write(`${chosen.length - survived} killed, ${survived} survived\n`);
process.exitCode = survived > 0 || chosen.length === 0 ? 1 : 0;
