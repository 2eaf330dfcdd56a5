import type { LoopTurn } from "@banyan/core/drivers";

/** A program that speaks the Agent Client Protocol over its standard input and output. See {@link AcpAgentOptions}. */
export interface AgentProgram {
  /** A path, or a name to look up in `PATH`. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** All environment variables of the program. Default: those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Working directory of the program. Default: that of this process. */
  readonly cwd?: string | undefined;
  /** Install command for the error message about a missing program. */
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
  /** Name in the model id `acp/NAME` and prefix of tool names: 1 to 32 letters, digits, `_` and `-`. */
  readonly name: string;
  /** The folder that the agent works in, or a function that returns it for each turn. Default: the folder of this process. */
  readonly cwd?: string | ((turn: LoopTurn) => Promise<string>) | undefined;
  /** Folder for previous contents of files. Without the folder, changes are recorded but cannot be undone. */
  readonly backups?: string | undefined;
  /** True if a new session receives the agent's instructions. Default `true`. */
  readonly instructions?: boolean | undefined;
  /**
   * Reasoning effort: a value of the agent's option of category `thought_level`. A turn fails with a `ModelError` if
   * the agent does not offer the value.
   */
  readonly effort?: string | undefined;
  /** Longest silence in milliseconds: until ready (default 60,000), and during work without a call (600,000). */
  readonly patience?: { readonly start?: number | undefined; readonly work?: number | undefined } | undefined;
}

/** The options of an agent for one turn, with all defaults filled in. */
export interface AcpAgent extends AcpAgentOptions {
  readonly id: string;
  readonly cwd: string;
}
