import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { commandLine, type DayHome, homeFor } from "../day/day.ts";
import { PROGRAMS_OF_A_DAY } from "../day/programs/index.ts";
import { Wire } from "../day/wire.ts";
import type { Measure, Sample } from "../measure.ts";

const TIMES = 5;
const RIVALS = ["pi", "claude", "codex"];

/** The arguments that answer one message and end. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  banyan: ["--model", "openai-compatible/first", "-p", "hi"],
  pi: ["--provider", "mock", "--model", "first", "-p", "hi"],
  claude: ["-p", "hi"],
  codex: ["exec", "--skip-git-repo-check", "hi"],
};

/** Runs a command with the clock of bash, which counts the CPU time of all processes that were waited for. */
const TIMED = 'TIMEFORMAT="%U %S"; time "$@" 2>/dev/null </dev/null';

export const print: Measure = {
  name: "print",
  what: "a process that answers `hi` and ends, over a mock provider: its time and its CPU time; started before, the best of five times; and the tokens of its request",
  subjects: Object.keys(ARGUMENTS),
  bounds: RIVALS,
  figures: [
    { name: "time", unit: "ms" },
    { name: "CPU", unit: "ms" },
    { name: "request", unit: "tokens" },
  ],
  targets: [
    { figure: "time", subject: "banyan", of: "codex", most: 1 },
    { figure: "time", subject: "banyan", of: "pi", most: 1 },
    { figure: "CPU", subject: "banyan", of: "pi", most: 1 },
    { figure: "request", subject: "banyan", most: 1_800 },
  ],
  rounds: 5,
  async run(subject, { places }) {
    const program = PROGRAMS_OF_A_DAY[subject];
    const place = places[subject];
    if (!program || place === undefined) throw new Error(`${subject} is not there.`);
    await using wire = await Wire.start(program.tools("free"));
    const home = homeFor(program, wire.url);
    const words = commandLine(place, ARGUMENTS[subject] ?? []);
    const taken: Sample[] = [];
    for (let time = 0; time <= TIMES; time++) taken.push(await runTimes(words, home));
    // The first run is not counted: it fills caches.
    taken.shift();
    const leastOf = (figure: string) => Math.min(...taken.map((times) => times[figure] ?? Number.NaN));
    // Some programs also send a short request for a title.
    const request = Math.max(...wire.requests.slice(0, 4).map((body) => countTokens(body)));
    return { time: leastOf("time"), CPU: leastOf("CPU"), request };
  },
};

/** Runs a program once. Returns milliseconds. Rejects if the program fails, or does not print the answer. */
async function runTimes(words: readonly string[], { cwd, env }: DayHome): Promise<Sample> {
  const began = performance.now();
  const { stdout, stderr } = await promisify(execFile)("bash", ["-c", TIMED, "bash", ...words], { cwd, env });
  const time = performance.now() - began;
  if (!stdout.includes("Yes.")) throw new Error(`The answer is missing: ${stdout}`);
  const [user = Number.NaN, system = Number.NaN] = stderr.trim().split(" ").map(Number);
  return { time, CPU: (user + system) * 1000 };
}
