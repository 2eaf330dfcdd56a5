import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Baselines, keepBaselines, readBaselines, regressions } from "./baselines.ts";
import { inOwnProcess, Provider } from "./child.ts";
import { type Claim, readClaims, wrongClaims } from "./claims.ts";
import type { Lab, Measure, Sample } from "./measure.ts";
import { measures } from "./measures/index.ts";
import { PEERS } from "./peers.ts";
import { peerOf, placesFor } from "./places.ts";
import { type Row, sentence, summarise, table, type Verdict, verdicts } from "./results.ts";

const RESULTS = fileURLToPath(new URL("../results/", import.meta.url));

const HELP = `npm run bench [-- [options] name ...]

Measures:
${measures.map(({ name, what }) => `  ${name.padEnd(16)} ${what}`).join("\n")}

Options:
  --peers            measures the peers of bench/peers.json too, which are installed in
                     ${PEERS}
  --rounds N         how often each subject is measured
  --subject NAME     only this subject; can be given several times
  --turns N          the length of the conversation of "turns" (1,000,000)
  --profile          leaves a CPU profile of each subject in bench/results/
  --keep             keeps the ratios as those that later runs are compared with (bench/baselines.json)`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    peers: { type: "boolean", default: false },
    rounds: { type: "string" },
    subject: { type: "string", multiple: true },
    turns: { type: "string", default: "1000000" },
    profile: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});

if (values.help) console.log(HELP);
else await main();

async function main(): Promise<void> {
  const turns = count("--turns", values.turns);
  const rounds = values.rounds === undefined ? undefined : count("--rounds", values.rounds);
  const chosen = positionals.length === 0 ? measures : positionals.map(measureNamed);
  if (values.peers) console.log(`The peers are in ${PEERS}.\n`);
  const { places, missing } = await placesFor(chosen.flatMap(subjectsOf));
  using provider = await Provider.start();
  const lab: Lab = { provider: provider.address, turns, places };

  const at = new Date().toISOString();
  const machine = { node: process.version, platform: process.platform, cpu: cpus()[0]?.model, cores: cpus().length };
  const file = `${RESULTS}${at.slice(0, 19).replaceAll(":", "-")}.json`;
  const baselines = readBaselines();
  const claims = readClaims();
  const results = [];
  mkdirSync(RESULTS, { recursive: true });
  for (const measure of chosen) {
    const taken = await take(measure, rounds ?? measure.rounds, lab, missing);
    report(measure, taken, baselines, claims);
    results.push({ measure: measure.name, what: measure.what, load: loadavg()[0], ...taken });
    // Write after each measure: an interrupted run keeps its results.
    writeFileSync(file, `${JSON.stringify({ at, machine, turns, results }, null, 2)}\n`);
  }
  if (values.keep) keepBaselines(new Map(results.map(({ measure, rows }) => [measure, rows])));
  console.log(`Written to ${file}`);
}

/** The results of a measure. */
interface Taken {
  readonly rounds: number;
  readonly seconds: number;
  readonly rows: readonly Row[];
  readonly verdicts: readonly Verdict[];
  /** Reasons of missing subjects, by name. */
  readonly problems: Readonly<Record<string, string>>;
}

/**
 * Runs all rounds of a measure. The subjects take turns, so that other load on the machine affects all of them. A
 * subject that fails is left out of the next rounds.
 */
async function take(measure: Measure, rounds: number, lab: Lab, missing: ReadonlyMap<string, string>): Promise<Taken> {
  const samples = new Map<string, Sample[]>(subjectsOf(measure).map((subject) => [subject, []]));
  const problems: Record<string, string> = {};
  const fail = (subject: string, problem: string) => {
    samples.delete(subject);
    problems[subject] = problem;
  };
  for (const subject of samples.keys()) {
    const problem = missing.get(peerOf(subject) ?? "");
    if (problem !== undefined) fail(subject, problem);
  }
  console.log(`${measure.name}: ${measure.what}`);
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1000;
  for (let round = 1; round <= rounds; round++) {
    for (const [subject, taken] of samples) {
      const outcome = await inOwnProcess({ measure: measure.name, subject, lab }, values.profile ? RESULTS : undefined);
      if ("sample" in outcome) taken.push(outcome.sample);
      else fail(subject, outcome.problem);
    }
    const left = (seconds() / round) * (rounds - round);
    process.stderr.write(`  round ${round} of ${rounds}${left > 0 ? `, about ${Math.ceil(left)} s to go` : ""}\n`);
  }
  const rows = summarise(measure, samples);
  return { rounds, seconds: Math.round(seconds()), rows, verdicts: verdicts(measure, rows), problems };
}

function report(
  measure: Measure,
  { rows, verdicts, problems, seconds }: Taken,
  baselines: Baselines,
  claims: readonly Claim[],
): void {
  console.log(`\n${table(rows)}\n`);
  for (const verdict of verdicts) console.log(`  ${sentence(verdict)}`);
  for (const [subject, problem] of Object.entries(problems)) console.log(`  ${subject}: ${problem}`);
  for (const regression of regressions(measure.name, rows, baselines)) console.log(`  ${regression}`);
  for (const wrong of wrongClaims(measure.name, rows, claims)) {
    process.exitCode = 1;
    console.log(`  ${wrong}`);
  }
  console.log(`  ${seconds} s\n`);
}

/** Returns the subjects of this run. */
function subjectsOf(measure: Measure): string[] {
  const isMeant = (subject: string) => values.subject?.includes(subject) ?? !measure.whenNamed?.includes(subject);
  const subjects = measure.subjects.filter(isMeant);
  const here = subjects.filter((subject) => values.peers || peerOf(subject) === undefined);
  if (here.length > 0) return here;
  throw new Error(`${measure.name} has the subjects ${measure.subjects.join("; ")}. Those of peers need --peers.`);
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
