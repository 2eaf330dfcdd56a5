import { textOrJson } from "../program/flag-values.ts";
import type { CommandLine } from "../program/parse.ts";

/** Arguments of `banyan nodes`; omitted options are absent. */
export interface NodesArguments {
  /** Address of the database. Default: BANYAN_STORE. */
  readonly store?: string;
  /** True to list the open conversations of each server. */
  readonly conversations: boolean;
  readonly output: "text" | "json";
}

export const nodesLine: CommandLine<NodesArguments> = {
  define: (command, read) =>
    command
      .description("The servers that share a database, where they are, and how many conversations each has open.")
      .option("--store <url>", "the PostgreSQL database that they share (default: BANYAN_STORE)")
      .option("--conversations", "list these, too", false)
      .addOption(textOrJson())
      .action(read),
};
