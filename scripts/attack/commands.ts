import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { modelServer, type ServerAnswer } from "../../packages/cli/src/testing/model-server.ts";
import type { Attack, Place } from "./attack.ts";

/** Commands that a model runs with the tool `shell`. */
export interface Commands {
  readonly rule: Attack["rule"];
  /** Names of programs in the workspace that leave a mark when they run. A mark means that the rule is broken. */
  readonly planted: readonly string[];
  readonly flags: readonly string[];
  readonly commands: readonly string[];
}

/** The file in the workspace that exists after a program of the attacker ran. */
const MARK = "ran-evil";
const CONTROL = "control";
const SECONDS = 600;

/**
 * Returns attacks in which a model runs commands while no user can approve them. The first attempt of a process also
 * runs the later ones: one turn of one program, with one call per command. Each command gets a fresh workspace.
 */
export function commandAttacks(attacked: Commands): readonly Attack[] {
  const { rule, commands } = attacked;
  const ran = new Map<string, boolean>();
  return commands.map((command, index) => ({
    rule,
    name: command,
    seconds: SECONDS,
    async attempt(place) {
      const ended = ran.has(command) ? "" : await tryFrom(index, attacked, place, ran);
      const evil = ran.get(command);
      if (evil === undefined) throw new Error(`The model was not told how the command went: ${ended}`);
      return evil ? `a program of the workspace ran: ${command}` : undefined;
    },
  }));
}

/** Runs the commands from `first` on, and records whether a planted program ran. Returns the program's output. */
async function tryFrom(first: number, attacked: Commands, place: Place, ran: Map<string, boolean>): Promise<string> {
  const mark = join(place.folder, MARK);
  const commands = attacked.commands.slice(first);
  const call = (command: string): ServerAnswer => {
    plant(place, attacked);
    return { calls: [{ tool: "shell", input: { command, timeout: 60_000 } }] };
  };
  let seen = false;
  await using model = await modelServer(
    call(`./${CONTROL}`),
    ...commands.map((command, index) => () => {
      // When the model is asked for the next call, the previous call has finished.
      const before = commands[index - 1];
      if (before === undefined) seen = existsSync(mark);
      else ran.set(before, existsSync(mark));
      return call(command);
    }),
    { text: "done" },
  );
  const calls = String(commands.length + 2);
  const flags = ["--allow", `shell(./${CONTROL})`, "--max-steps", calls, ...attacked.flags];
  const args = ["-p", "go", "--model", "openai-compatible/test", ...flags];
  const { stderr } = await place.banyan(args, { env: model.env });
  if (!seen)
    throw new Error(`A program of the workspace that is allowed did not run, so none would be seen: ${stderr}`);
  const last = commands.at(-1);
  if (last !== undefined && model.asked.length === commands.length + 2) ran.set(last, existsSync(mark));
  return stderr;
}

/** Empties the workspace and plants the programs, also in the folders that a number in PATH names. */
function plant({ folder }: Place, { planted }: Commands): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
  const program = `#!/bin/sh\n: > '${join(folder, MARK)}'\n`;
  for (const at of [".", "0", "1", "10"]) {
    mkdirSync(join(folder, at), { recursive: true });
    for (const name of [...planted, CONTROL]) writeFileSync(join(folder, at, name), program, { mode: 0o755 });
  }
}
