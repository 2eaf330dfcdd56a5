import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { modelServer } from "../../packages/cli/src/testing/model-server.ts";
import type { Attack, Place } from "./attack.ts";

/** What a model tries with the tool `shell`, and what its user said beforehand. */
export interface Try {
  readonly command: string;
  readonly flags: readonly string[];
}

const MARK = "ran-evil";

/**
 * Attacks in which a model has one command run by the program, with nobody to ask. Programs of the names given lie in
 * the workspace and tell when they run; one that does so broke through.
 */
export function commandAttacks(
  rule: Attack["rule"],
  names: readonly string[],
  tries: readonly Try[],
): readonly Attack[] {
  return tries.map(({ command, flags }) => ({
    rule,
    name: command,
    async attempt(place) {
      plant(place, names);
      await using model = await modelServer({ calls: [{ tool: "shell", input: { command } }] }, { text: "done" });
      const { stderr } = await place.banyan(["-p", "go", "--model", "openai-compatible/test", ...flags], {
        env: model.env,
      });
      if (model.asked.length < 2) throw new Error(`The model was not told how the command went: ${stderr}`);
      return existsSync(join(place.folder, MARK)) ? `a program of the workspace ran: ${command}` : undefined;
    },
  }));
}

/** In the folders that a number makes of PATH, too. */
function plant({ folder }: Place, names: readonly string[]): void {
  for (const at of [".", "0", "1", "10"]) {
    mkdirSync(join(folder, at), { recursive: true });
    for (const name of names)
      writeFileSync(join(folder, at, name), `#!/bin/sh\n: > '${join(folder, MARK)}'\n`, { mode: 0o755 });
  }
}
