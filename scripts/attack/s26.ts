import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { modelServer } from "../../packages/cli/src/testing/model-server.ts";
import type { Attack, Place } from "./attack.ts";

// S26: what was said in one conversation is not kept, and not sent in another, unless a person agreed and sees it.

const SECRET = "the green cupboard in the attic";

/** What a user has set, and how they run the command. */
const runs: Readonly<Record<string, { readonly enabled?: boolean; readonly env?: Readonly<Record<string, string>> }>> =
  {
    "by somebody who set nothing": {},
    "by somebody who agreed, in a script": { enabled: true },
    "with the variable, in a script": { env: { BANYAN_MEMORY: "on" } },
    "by somebody who switched it off": { enabled: false, env: { BANYAN_MEMORY: "on" } },
  };

export const attacks: readonly Attack[] = Object.entries(runs).map(([name, { enabled, env = {} }]) => ({
  rule: "S26" as const,
  name: `what was said elsewhere is sent, ${name}`,
  async attempt(place: Place) {
    if (enabled !== undefined) {
      const config = join(place.home, ".banyan", "config");
      mkdirSync(config, { recursive: true });
      writeFileSync(join(config, "settings.json"), JSON.stringify({ memory: { enabled } }));
    }
    await using model = await modelServer({ text: "Noted." });
    const say = (words: string) =>
      place.banyan(["-p", words, "--model", "openai-compatible/test"], { env: { ...model.env, ...env } });
    await say(`The deployment key is kept in ${SECRET}.`);
    const { stderr } = await say("Where is the deployment key kept?");
    if (model.asked.length < 2) throw new Error(`The model was not asked twice: ${stderr}`);
    if (JSON.stringify(model.asked.slice(1)).includes(SECRET)) return "the model of another conversation was told it";
    return existsSync(join(place.home, ".banyan", "data", "memory.sqlite")) ? "it was kept" : undefined;
  },
}));
