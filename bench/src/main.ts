import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { inOwnProcess, Provider } from "./child.ts";
import type { Measure, Sample } from "./measure.ts";
import { measures } from "./measures/index.ts";
import { type Row, summarise, table } from "./results.ts";

const RESULTS = fileURLToPath(new URL("../results/", import.meta.url));

const HELP = `npm run bench [-- [options] name ...]

Measures:
${measures.map(({ name, what }) => `  ${name.padEnd(8)} ${what}`).join("\n")}

Options:
  --rounds N         how often each subject is measured
  --subject NAME     only this subject; can be given several times
  --turns N          the length of the conversation of "turns" (1,000,000)
  --profile          leaves a CPU profile of each subject in bench/results/`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string" },
    subject: { type: "string", multiple: true },
    turns: { type: "string", default: "1000000" },
    profile: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});

if (values.help) console.log(HELP);
else await main();

async function main(): Promise<void> {
  const turns = count("--turns", values.turns);
  const rounds = values.rounds === undefined ? undefined : count("--rounds", values.rounds);
  const chosen = positionals.length === 0 ? measures : positionals.map(measureNamed);
  const results = [];
  for (const measure of chosen) {
    const rows = await take(measure, rounds ?? measure.rounds, turns);
    console.log(`\n${table(rows)}\n`);
    results.push({ measure: measure.name, what: measure.what, rounds: rounds ?? measure.rounds, rows });
  }
  mkdirSync(RESULTS, { recursive: true });
  const at = new Date().toISOString();
  const file = `${RESULTS}${at.slice(0, 19).replaceAll(":", "-")}.json`;
  const machine = { node: process.version, platform: process.platform, cpu: cpus()[0]?.model, cores: cpus().length };
  writeFileSync(file, `${JSON.stringify({ at, machine, turns, results }, null, 2)}\n`);
  console.log(`Written to ${file}`);
}

/** All rounds of a measure. The subjects take turns, so that what else happens on the machine meets all of them. */
async function take(measure: Measure, rounds: number, turns: number): Promise<Row[]> {
  using provider = await Provider.start();
  const subjects = measure.subjects.filter((subject) => values.subject?.includes(subject) ?? true);
  if (subjects.length === 0) throw new Error(`${measure.name} has the subjects ${measure.subjects.join(", ")}.`);
  const samples = new Map<string, Sample[]>(subjects.map((subject) => [subject, []]));
  console.log(`${measure.name}: ${measure.what}`);
  for (let round = 1; round <= rounds; round++) {
    for (const [subject, taken] of samples) {
      const assignment = { measure: measure.name, subject, lab: { provider: provider.address, turns } };
      taken.push(await inOwnProcess(assignment, values.profile ? RESULTS : undefined));
    }
    process.stderr.write(`  round ${round} of ${rounds}\n`);
  }
  return summarise(measure, samples);
}

function measureNamed(name: string): Measure {
  const measure = measures.find((known) => known.name === name);
  if (measure) return measure;
  throw new Error(`There is no measure "${name}". There are: ${measures.map((known) => known.name).join(", ")}.`);
}

function count(option: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Error(`${option} is "${text}"; it must be a positive whole number.`);
}
