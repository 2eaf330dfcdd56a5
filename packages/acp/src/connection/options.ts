import type { LoopTurn } from "@banyan/core/drivers";

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

/** The agent of one turn: the options with their defaults, and the folder of the turn. */
export interface AcpAgent extends AcpAgentOptions {
  readonly id: string;
  readonly cwd: string;
}
