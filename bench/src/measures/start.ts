import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Measure, Sample } from "../measure.ts";
import { processTree, usageOf } from "../memory.ts";
import { homeOfPrograms, PROGRAMS, type Program, programNamed } from "../programs.ts";
import { type Place, PseudoTerminal } from "../pseudo-terminal.ts";

const TIMES = 3;
const KEY = "§";
/** Milliseconds between two presses of the key. */
const PRESSES = 5;
/** Milliseconds from the first key until a program is at rest. */
const REST = 3000;

export const start: Measure = {
  name: "start",
  what: "the time to the version, to help, to a key that is shown at the prompt, and to an agent that can be asked; CPU time and memory of all processes three seconds later; started before, the best of three times",
  subjects: PROGRAMS,
  bounds: ["bare node", "pi", "claude", "codex"],
  figures: [
    ...["version", "help", "a key at the prompt", "the agent", "CPU"].map((name) => ({ name, unit: "ms" })),
    { name: "memory", unit: "MB" },
  ],
  targets: [
    { figure: "version", subject: "banyan", of: "bare node", most: 2 },
    { figure: "help", subject: "banyan", of: "bare node", most: 2 },
    { figure: "a key at the prompt", subject: "banyan", of: "pi", most: 1 },
    { figure: "a key at the prompt", subject: "banyan", of: "claude", most: 1 },
    // codex is no Node program: starting Node alone takes a third of its time until a key is shown.
    { figure: "a key at the prompt", subject: "banyan", of: "codex", most: 1.2 },
    { figure: "CPU", subject: "banyan", of: "pi", most: 1 },
    { figure: "memory", subject: "banyan", of: "pi", most: 1 },
  ],
  rounds: 5,
  async run(subject, { places }) {
    const program = programNamed(subject, places);
    const place = homeOfPrograms();
    const taken: Sample[] = [];
    for (let time = 0; time <= TIMES; time++) {
      taken.push({
        version: runTime(program.version, place),
        help: runTime(program.help, place),
        ...(program.chat && (await chatTimes(program.chat, program.ready, place))),
      });
    }
    // The first run is not counted: it fills the compile cache.
    const [first, ...counted] = taken;
    const leastOf = (figure: string) => Math.min(...counted.map((times) => times[figure] ?? Number.NaN));
    return Object.fromEntries(Object.keys(first ?? {}).map((figure) => [figure, leastOf(figure)]));
  },
};

function runTime([command = "", ...args]: readonly string[], place: Place): number {
  const began = performance.now();
  execFileSync(command, args, { ...place, stdio: ["ignore", "pipe", "pipe"] });
  return performance.now() - began;
}

/** Starts a chat in a terminal, and presses a key until it is shown. */
async function chatTimes(chat: readonly string[], ready: Program["ready"], place: Place) {
  await using terminal = await PseudoTerminal.start(chat, place);
  const began = performance.now();
  const timeOf = async (text: string) => {
    await terminal.shows(text);
    return performance.now() - began;
  };
  const presses = setInterval(() => terminal.press(KEY), PRESSES);
  const times: Record<string, number> = {};
  try {
    times["a key at the prompt"] = await timeOf(KEY);
    if (ready !== undefined) times["the agent"] = await timeOf(ready);
  } finally {
    clearInterval(presses);
  }
  await sleep(REST);
  const { cpu, memory } = usageOf(processTree(terminal.process));
  return { ...times, CPU: cpu, memory };
}
