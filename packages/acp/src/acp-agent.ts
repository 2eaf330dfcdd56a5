import { resolve } from "node:path";
import { ModelError } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import type { LoopDriver } from "@banyan/core/drivers";
import type { AcpAgentOptions } from "./connection/options.ts";
import { runAgentTurn } from "./turn.ts";

const OPTIONS: OptionNames<AcpAgentOptions> = {
  name: true,
  command: true,
  args: "list",
  env: "object",
  cwd: true,
  install: true,
  backups: true,
  instructions: true,
  effort: true,
  patience: true,
};

/** Settings that change what a response means. The protocol has no place for them. */
const UNSUPPORTED = ["topP", "seed", "stop"] as const;

/**
 * Returns a driver that lets an agent of the Agent Client Protocol run turns. Each turn starts the agent's program, and
 * ends the program with every process that it started. The conversation records text, reasoning, calls with results,
 * changed files and cost, as for a model. Rules and the user decide about the agent's permission requests. Throws a
 * `TypeError` for an invalid name. A turn fails with a `ModelError` if the program is missing.
 * @example
 * const claude = acpAgent({ name: "claude", command: "claude-agent-acp" });
 * const { text } = await new Agent({ model: claude }).send("Why does the build fail?");
 */
export function acpAgent(options: AcpAgentOptions): LoopDriver {
  refuseUnknown("acpAgent", options, OPTIONS);
  const { name, cwd = "." } = options;
  if (!/^[\w-]{1,32}$/.test(name)) {
    throw new TypeError(`"${name}" cannot name an agent: use 1 to 32 letters, digits, "_" and "-".`);
  }
  const id = `acp/${name}`;
  return {
    id,
    family: "acp",
    ownTools: true,
    async run(turn, sink, signal) {
      const unsupported = UNSUPPORTED.find((setting) => turn.settings[setting] !== undefined);
      if (unsupported !== undefined) {
        const advice = "leave it out, or use another model";
        throw new ModelError("invalid-request", { fact: `${id} does not support ${unsupported}`, advice });
      }
      const folder = typeof cwd === "string" ? cwd : await cwd(turn);
      await runAgentTurn({ ...options, id, cwd: resolve(folder) }, turn, sink, signal);
    },
  };
}
