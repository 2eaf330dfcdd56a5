import type { Limits } from "@banyan/core";
import type { ApprovalMode } from "@banyan/host";

export type OutputFormat = "text" | "json" | "jsonl";

/** Arguments of a chat, a task or a printed turn; omitted options are absent. */
export interface Arguments {
  /** Print one answer without a user, also on a terminal. */
  readonly print: boolean;
  readonly prompt?: string;
  readonly model?: string;
  /** Send the first message as a task. `once`: exit after it. `first`: continue as a chat. */
  readonly task?: "once" | "first";
  /** Path of a JSON Schema for the result of a task. */
  readonly outputSchema?: string;
  /** Continue the last conversation of the directory. */
  readonly continue: boolean;
  /** Continue this conversation: its id, the start of its id, or its title. `true`: the user chooses. */
  readonly resume?: string | true;
  /** A message's id, or `#` and its number: continue at the end of its branch. */
  readonly at?: string;
  /** The workspace, if it is not the current directory. */
  readonly cwd?: string;
  readonly output: OutputFormat;
  readonly temperature?: number;
  readonly maxTokens?: number;
  /** Limits of a turn. */
  readonly limits: Limits;
  /** Maximum silence of the model, in milliseconds. */
  readonly silence?: number;
  /** Time for retries of a failed model call, in milliseconds. */
  readonly retryTime?: number;
  /** Maximum model calls for one answer. */
  readonly attempts?: number;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly rules?: string;
  readonly approval?: ApprovalMode;
  readonly unconfined?: boolean;
  readonly memory?: boolean;
  /** Instructions for the agent: a text, or `@` and a file. */
  readonly instructions?: string;
  /** Use the project's settings, servers and instructions without a question. */
  readonly trust: boolean;
  readonly color: ColorChoice;
  readonly plain: boolean;
  /** With --print: write only problems to stderr. */
  readonly quiet: boolean;
}

export type ColorChoice = "auto" | "always" | "never";

/** Arguments of an empty command line: the defaults. */
export const NO_WORDS: Arguments = {
  print: false,
  continue: false,
  output: "text",
  limits: {},
  allow: [],
  deny: [],
  trust: false,
  color: "auto",
  plain: false,
  quiet: false,
};
