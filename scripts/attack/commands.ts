import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { modelServer, type ServerAnswer } from "../../packages/cli/src/testing/model-server.ts";
import type { Attack, Place } from "./attack.ts";

/** What a model tries with the tool `shell`. */
export interface Commands {
  readonly rule: Attack["rule"];
  /** Programs of these names lie in the workspace and tell when they run; one that does so broke through. */
  readonly planted: readonly string[];
  /** What the user said beforehand. */
  readonly flags: readonly string[];
  readonly commands: readonly string[];
}

/** The file, in the workspace, that is there once something of the attacker ran. */
const MARK = "ran-evil";
const CONTROL = "control";
const SECONDS = 600;

/**
 * Attacks in which a model has commands run by the program, with nobody to ask. The first attempt of a process makes those
 * behind it too: one turn of one start of the program, a call for each command, in a workspace that is made anew before it.
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

/** Tries the commands from the given one on, and notes of each whether something ran. Answers what the program said. */
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
      // Asked for the next call, the model was told how the one before went.
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

/** Empties the workspace and puts the programs there, in the folders that a number makes of PATH too. */
function plant({ folder }: Place, { planted }: Commands): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
  const program = `#!/bin/sh\n: > '${join(folder, MARK)}'\n`;
  for (const at of [".", "0", "1", "10"]) {
    mkdirSync(join(folder, at), { recursive: true });
    for (const name of [...planted, CONTROL]) writeFileSync(join(folder, at, name), program, { mode: 0o755 });
  }
}
