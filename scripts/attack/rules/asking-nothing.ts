import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { modelServer, shell } from "../../../packages/cli/src/testing/model-server.ts";
import type { Attack, Place } from "../attack.ts";

// S27: the approval prompt is skipped only if a user said so, and never without a sandbox unless the user said that too.

interface Try {
  readonly user?: object;
  readonly project?: object;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const NO_SANDBOX = { BANYAN_SANDBOX: "off" };

const tries: Readonly<Record<string, Try>> = {
  "the flag alone, without a sandbox": { args: ["--approval", "all"], env: NO_SANDBOX },
  "the variable alone, without a sandbox": { env: { ...NO_SANDBOX, BANYAN_APPROVAL: "all" } },
  "the setting alone, without a sandbox": { user: { approval: "all", sandbox: { enabled: "off" } } },
  "a trusted project that wants no sandbox for it": {
    args: ["--approval", "all", "--trust"],
    project: { unconfined: true, sandbox: { enabled: "off" } },
    env: NO_SANDBOX,
  },
  "a trusted project that wants all": { args: ["--trust"], project: { approval: "all", unconfined: true } },
  "no sandbox for it, without the flag": { args: ["--unconfined"], env: NO_SANDBOX },
};

export const attacks: readonly Attack[] = Object.entries(tries).map(
  ([name, { user, project, args = [], env = {} }]) => ({
    rule: "S27" as const,
    name: `nothing is asked: ${name}`,
    async attempt(place: Place) {
      const marker = join(place.home, "marker");
      write(join(place.home, ".banyan", "config", "settings.json"), user);
      write(join(place.folder, ".banyan", "settings.json"), project);
      await using model = await modelServer(shell(`touch ${marker}`), { text: "done" });
      const { stderr } = await place.banyan(["-p", "go", "--model", "openai-compatible/test", ...args], {
        env: { ...model.env, ...env },
      });
      if (model.asked.length === 0) throw new Error(`The model was not asked: ${stderr}`);
      return existsSync(marker) ? "a command ran unasked" : undefined;
    },
  }),
);

function write(file: string, content: object | undefined): void {
  if (content === undefined) return;
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, JSON.stringify(content));
}
