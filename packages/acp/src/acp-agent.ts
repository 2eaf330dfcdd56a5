import { resolve } from "node:path";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import type { LoopDriver, LoopTurn } from "@banyan/core/drivers";
import { takeTurn } from "./turn.ts";

/** A program that speaks the protocol over its standard input and output. */
export interface AgentProgram {
  /** A path, or a name to look up in `PATH`. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** All environment variables of the program. Default: those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Working directory of the program. Default: that of this process. */
  readonly cwd?: string | undefined;
  /** Install command, which the error names if the program is missing. */
  readonly install?: string | undefined;
}

/**
 * Options of {@link acpAgent}: the program, and how Banyan runs it.
 * @example
 * acpAgent({
 *   name: "claude",
 *   command: "claude-agent-acp",
 *   args: [],
 *   env: process.env,
 *   cwd: "/home/me/project",
 *   install: "npm install --global @agentclientprotocol/claude-agent-acp",
 *   backups: "/home/me/.cache/backups",
 *   instructions: false,
 *   patience: { start: 60_000, work: 600_000 },
 *   effort: "high",
 * });
 */
export interface AcpAgentOptions extends Omit<AgentProgram, "cwd"> {
  /** 1 to 32 letters, digits, `_` and `-`: the `claude` of the model `acp/claude`, and the prefix of the agent's tool names. */
  readonly name: string;
  /** The folder that the agent works in, or a function that returns it for each turn. Default: the folder of this process. */
  readonly cwd?: string | ((turn: LoopTurn) => Promise<string>) | undefined;
  /** Folder for previous contents of files, so that changes can be undone. Without it, changes are only recorded. */
  readonly backups?: string | undefined;
  /** True if a new session receives the agent's instructions. Default `true`. */
  readonly instructions?: boolean | undefined;
  /**
   * Reasoning effort: a value of the agent's option of category `thought_level`. The session keeps the value until
   * another is chosen. A turn fails with a `ModelError` if the agent does not offer the value.
   */
  readonly effort?: string | undefined;
  /** Longest silence in milliseconds: until the agent is ready (default 60,000), and while it works without a call (default 600,000). */
  readonly patience?: { readonly start?: number | undefined; readonly work?: number | undefined } | undefined;
}

const OPTIONS: OptionNames<AcpAgentOptions> = {
  name: true,
  command: true,
  args: true,
  env: true,
  cwd: true,
  install: true,
  backups: true,
  instructions: true,
  effort: true,
  patience: true,
};

/** The agent of one turn: the options with their defaults, and the folder of the turn. */
export interface AcpAgent extends AcpAgentOptions {
  readonly id: string;
  readonly cwd: string;
}

/**
 * Returns a driver that lets an agent of the Agent Client Protocol run turns. Each turn starts the program, and ends
 * it with every process that it started. If the program is missing, the turn fails with a `ModelError`. Throws a
 * `TypeError` for an invalid name.
 *
 * The conversation records text, reasoning, calls with results, changed files and cost as for a model. The agent's
 * `permission` judges permission requests, and the user answers them.
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
      const folder = typeof cwd === "string" ? cwd : await cwd(turn);
      await takeTurn({ ...options, id, cwd: resolve(folder) }, turn, sink, signal);
    },
  };
}
