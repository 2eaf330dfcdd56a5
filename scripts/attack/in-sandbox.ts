import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { modelServer } from "../../packages/cli/src/testing/model-server.ts";
import { NotTried, type Place } from "./attack.ts";

/** Returns the output of a command that a model runs in the sandbox, after a check that the sandbox is active. */
export async function inSandbox(place: Place, script: string): Promise<string> {
  const file = join(place.folder, "attack.sh");
  writeFileSync(file, `echo "inside:$BANYAN_IN_SANDBOX"\n${script}\n`);
  const calls = [{ tool: "shell", input: { command: "sh attack.sh 2>&1; true" } }];
  await using model = await modelServer({ calls }, { text: "done" });
  const args = ["-p", "go", "--model", "openai-compatible/test", "--output", "jsonl", "--allow", "shell"];
  const { stdout, stderr } = await place.banyan(args, { env: model.env });
  const told = JSON.stringify(model.asked.slice(1)) + stdout;
  if (told.includes("inside:1")) return told;
  if (/cannot run in a sandbox/.test(stderr + stdout)) throw new NotTried("there is no sandbox here");
  throw new Error(`The command was not run in a sandbox: ${stderr} ${told.slice(0, 500)}`);
}
