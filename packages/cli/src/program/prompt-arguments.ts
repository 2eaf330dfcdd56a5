import type { ApprovalMode, HostFlags } from "@banyan/host";

export type OutputFormat = "text" | "json" | "jsonl";

/** Options of a chat, a task or a printed turn. An omitted option is absent. */
export interface Arguments {
  /** True to print one answer without a user, even on a terminal. */
  readonly print: boolean;
  readonly prompt?: string;
  readonly model?: string;
  /** Set to send the first message as a task. `once`: exit after the task. `first`: continue as a chat. */
  readonly task?: "once" | "first";
  readonly outputSchema?: string;
  /** Commands that must succeed before the task is done. */
  readonly until?: readonly string[];
  readonly continue: boolean;
  /** The conversation to continue: its id, the start of its id, or its title. `true`: the user chooses. */
  readonly resume?: string | true;
  /** The message whose branch to continue: its id, or `#` and its number. */
  readonly at?: string;
  readonly cwd?: string;
  readonly output: OutputFormat;
  readonly numbers: NonNullable<HostFlags["numbers"]>;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly network: readonly string[];
  readonly rules?: string;
  readonly approval?: ApprovalMode;
  readonly unconfined?: boolean;
  readonly memory?: boolean;
  /** Instructions for the agent: a text, or `@` and a file. */
  readonly instructions?: string;
  /** True to use the project's settings, servers and instructions without a question. */
  readonly trust: boolean;
  readonly color: ColorChoice;
  readonly plain: boolean;
  readonly quiet: boolean;
}

export type ColorChoice = "auto" | "always" | "never";

/** The options of a command line that has no words. */
export const NO_WORDS: Arguments = {
  print: false,
  continue: false,
  output: "text",
  numbers: {},
  allow: [],
  deny: [],
  network: [],
  trust: false,
  color: "auto",
  plain: false,
  quiet: false,
};
