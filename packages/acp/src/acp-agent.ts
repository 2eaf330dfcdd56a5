import { resolve } from "node:path";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import type { LoopDriver, LoopTurn } from "@banyan/core/drivers";
import { takeTurn } from "./turn.ts";

/** A program that speaks the protocol over its standard input and output. */
export interface AgentProgram {
  /** A path, or a name that is looked for along `PATH`. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** All variables of its process. Default: those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The folder that it works in. Default: that of this process. */
  readonly cwd?: string | undefined;
  /** How one gets it, as a sentence for a person whose machine has not got it. */
  readonly install?: string | undefined;
}

/**
 * Which agent, and how it is treated.
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
  /** Letters, digits, `_` and `-`, at most 32: the `claude` of the model `acp/claude`, and the beginning of its tools' names. */
  readonly name: string;
  /** The folder that the agent works in, or a function that returns it for each turn. Default: the folder of this process. */
  readonly cwd?: string | ((turn: LoopTurn) => Promise<string>) | undefined;
  /** Where previous contents of files are kept, so that its changes can be undone. Without it, changes are noted alone. */
  readonly backups?: string | undefined;
  /** Whether it is told the agent's instructions when a session begins. Default `true`. */
  readonly instructions?: boolean | undefined;
  /**
   * How much it is to think, as it calls that itself: a value of its option of the category `thought_level`. Its session keeps what
   * was chosen until another is. A turn fails with one sentence where it offers no such value.
   */
  readonly effort?: string | undefined;
  /** Milliseconds that it may be silent: until it is ready (default 60,000), and while it works and no call runs (default 600,000). */
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
 * An agent that speaks the Agent Client Protocol, as what runs the turns of an agent: each turn starts its program, and ends it
 * with all that it started. Nothing runs before the first turn; a program that is not there fails that turn with one sentence.
 * Throws a `TypeError` for a name that cannot be one.
 *
 * What it does stands in the conversation as if a model had done it: text, reasoning, calls with their results, files that it
 * changed, what it cost. What it asks leave for is judged by the agent's `permission`, and asked of the person.
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
