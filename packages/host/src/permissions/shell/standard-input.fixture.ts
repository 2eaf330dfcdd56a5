import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Permission } from "@banyan/core";
import { judge, permission, rules, tool } from "../call.fixture.ts";
import { type Chance, chance } from "./generated.fixture.ts";

/** Programs that execute their input, or are unknown. */
const EXECUTING =
  "bash sh dash zsh python3 node perl ruby psql mysql sqlite3 ssh make xargs parallel docker kubectl npm npx less vim crontab at frob curl".split(
    " ",
  );
/** Programs that only copy, count or filter their input. */
const COPYING = "cat tee grep wc sort head tail tr cut uniq".split(" ");
/** Not recorders: programs that run the words after them, with their own input. */
const RUNNING = ["env", "nice", "timeout", "nohup", "setsid"];

/** Number of later commands that run in spite of the rules, to see that the recorders work. */
const SAMPLE = 60;

/** A first command with its "always" answers, and a later one with the same words and another input. */
interface Case {
  readonly asked: readonly string[];
  readonly later: string;
}

/** The words of a command; one in five is behind a program that runs other programs. */
function wordsOf({ one, below }: Chance): string {
  const args = () =>
    one("", "", "-", "-s", "x", "-i db", "-f -", "exec -i c sh", "host", "/dev/stdin", "-c 'a b'", "-n -1");
  const program = one(...(below(4) === 0 ? COPYING : EXECUTING));
  const words = `${program} ${args()}`.trim();
  return below(5) === 0
    ? `${one("env", "env A=1", "nice", "nice -n 5", "timeout 9", "nohup", "setsid", "A=1", "LC_ALL=C")} ${words}`
    : words;
}

/** The words with a text as standard input, in one of the shell's forms. */
function withInput(words: string, text: string, { one }: Chance): string {
  return one(
    () => `${words} <<'E'\n${text}\nE`,
    () => `${words} <<E\n${text}\nE`,
    () => `${words} <<-'E'\n\t${text}\n\tE`,
    () => `<<'E' ${words}\n${text}\nE`,
    () => `${words} <<< '${text}'`,
    () => `${words} <<< ${text}`,
    () => `${words} < input`,
    () => `< input ${words}`,
    () => `${words} 0< input`,
    () => `${words} <> input`,
    () => `${words} 3< input <&3`,
    () => `cat input | ${words}`,
    () => `cat input |& ${words}`,
    () => `echo ${text} | ${words}`,
    () => `echo ${text} | cat | ${words}`,
    () => `cat <<'E' | ${words}\n${text}\nE`,
    () => `ls && echo ${text} | ${words}`,
    () => `cd . && ${words} < input`,
    () => `${words} <(cat input)`,
    () => `${words} < <(echo ${text})`,
    () => `echo ${text} > >(${words})`,
    () => `echo ${text} | tee >(${words})`,
    () => `{ ${words}; } < input`,
    () => `(${words}) <<< ${text}`,
    () => `{ echo ${text}; } | ${words}`,
    () => `if true; then ${words}; fi < input`,
    () => `f() { ${words}; }; f < input`,
    () => `exec < input; ${words}`,
    () => `bash -c "${words.replaceAll("'", "")}" < input`,
    () => `bash -c 'cat input | ${words.replaceAll("'", "")}'`,
    () => `${words} 2>/dev/null < input | cat`,
  );
}

function caseOf(random: Chance, number: number): Case {
  const words = wordsOf(random);
  const seen = `seen${number}`;
  const asked = withInput(words, seen, random);
  // The user may have been asked about parts of the command too: the words alone, and the writer of its pipe.
  const parts = [words, "cat input", `echo later${number}`, "cat", "tee x", "ls", "cd .", "true"];
  const later =
    random.below(2) === 0 ? withInput(words, `later${number}`, random) : asked.replaceAll(seen, `later${number}`);
  return { asked: [asked, ...parts, `echo ${seen}`], later };
}

/** The rules of a user who answers "always" to every question that offers it. */
async function answered(judging: Permission, commands: readonly string[]): Promise<string[]> {
  const always: string[] = [];
  for (const command of commands) {
    const permit = await judge(judging, tool("shell"), { command }, always);
    if (permit.decision === "ask" && permit.pattern !== undefined) always.push(permit.pattern);
  }
  return always;
}

/** The outcome of commands that ran without a question, with a new input. */
export interface Trial {
  /** Commands in which a program that may execute it got such an input. */
  readonly executed: readonly string[];
  /** The number of allowed later commands. */
  readonly allowed: number;
  /** The number of these commands that gave such an input to a program that only copies it. */
  readonly copied: number;
  /** The number of later commands that would give such an input to an executing program without a question. */
  readonly possible: number;
}

/**
 * Asks about commands with standard input, answers "always", then runs allowed commands with another input: in Bash, with programs
 * that record their input. The lists of this file, not the product's tables, decide which programs execute their input.
 */
export async function tryInputs(cases: number, seed: number): Promise<Trial> {
  const folder = mkdtempSync(join(tmpdir(), "banyan-input-"));
  try {
    const workspace = join(folder, "workspace");
    mkdirSync(workspace);
    const random = chance(seed);
    const inMode = { ask: permission({ workspace }), edits: permission({ workspace, mode: "edits" }) };
    const run = recorders(folder, workspace);
    const made = Array.from({ length: cases }, (_, number) => caseOf(random, number));
    const unasked: number[] = [];
    for (const [number, { asked, later }] of made.entries()) {
      const judging = inMode[random.below(2) === 0 ? "ask" : "edits"];
      const always = await answered(judging, asked);
      // An answer applies to a conversation, or permanently as a rule of the settings.
      const kept = random.below(2) === 0;
      const again = kept ? permission({ workspace, rules: rules({ allow: always }) }) : judging;
      const { decision } = await judge(again, tool("shell"), { command: later }, kept ? [] : always);
      if (decision === "allow") unasked.push(number);
    }
    const laterOf = (number: number) => made[number]?.later ?? "";
    const records = run(unasked.map((number) => ({ number, command: laterOf(number) })));
    const executed = new Set(records.filter(({ program }) => EXECUTING.includes(program)).map(({ number }) => number));
    const copied = new Set(records.filter(({ program }) => COPYING.includes(program)).map(({ number }) => number));
    const sample = made.slice(0, SAMPLE).map(({ later: command }, number) => ({ number, command }));
    const possible = run(sample).filter(({ program }) => EXECUTING.includes(program));
    return {
      executed: [...executed].map(laterOf),
      allowed: unasked.length,
      copied: copied.size,
      possible: new Set(possible.map(({ number }) => number)).size,
    };
  } finally {
    // A process substitution may outlive its command.
    rmSync(folder, { recursive: true, maxRetries: 20, retryDelay: 100 });
  }
}

interface Command {
  readonly number: number;
  readonly command: string;
}

interface Recorded {
  readonly number: number;
  readonly program: string;
}

/** Installs the recorders. The returned function runs commands and lists which program read which later input. */
function recorders(folder: string, workspace: string): (commands: readonly Command[]) => Recorded[] {
  const programs = join(folder, "programs");
  const trace = join(folder, "trace");
  mkdirSync(programs);
  const copy = `#!/bin/sh
PATH=/bin:/usr/bin
read=$(for word; do case "$word" in /dev/fd/*) cat "$word";; esac; done; cat)
printf '%s|%s|%s\\0' "$RUN" "\${0##*/}" "$read" >> '${trace}'
printf '%s\\n' "$read"
`;
  for (const name of [...EXECUTING, ...COPYING]) writeFileSync(join(programs, name), copy, { mode: 0o755 });
  // These two also take names of files.
  writeFileSync(join(programs, "cat"), copy.replace("/dev/fd/*)", "/dev/fd/*|input)"), { mode: 0o755 });
  writeFileSync(
    join(programs, "tee"),
    `${copy.replace(/read=.*/, "read=$(cat)")}for word; do case "$word" in /dev/fd/*) echo "$read" > "$word";; esac; done\n`,
    { mode: 0o755 },
  );
  writeFileSync(join(programs, "ls"), "#!/bin/sh\n", { mode: 0o755 });
  for (const name of RUNNING) symlinkSync(realOf(name), join(programs, name));
  return (commands) => {
    writeFileSync(trace, "");
    for (const { number, command } of commands) {
      writeFileSync(join(workspace, "input"), `later${number}\n`);
      spawnSync("/bin/bash", ["-c", command], {
        cwd: workspace,
        env: { PATH: programs, RUN: String(number) },
        stdio: ["ignore", "ignore", "ignore"],
        timeout: 10_000,
      });
    }
    return readFileSync(trace, "utf8")
      .split("\0")
      .map((record) => record.split("|"))
      .filter(([number, , read = ""]) => read.includes(`later${number}`))
      .map(([number, program = ""]) => ({ number: Number(number), program }));
  };
}

function realOf(name: string): string {
  return ["/bin", "/usr/bin"].map((place) => join(place, name)).find((path) => existsSync(path)) ?? "/bin/false";
}
