import { textOrJson } from "../program/flag-values.ts";
import type { CommandLine } from "../program/parse.ts";

/** Options of `banyan nodes`. An omitted option is absent. */
export interface NodesArguments {
  readonly store?: string;
  readonly conversations: boolean;
  readonly output: "text" | "json";
}

export const nodesLine: CommandLine<NodesArguments> = {
  define: (command, read) =>
    command
      .description("List the servers that share a database, with their addresses and the number of open conversations.")
      .option("--store <url>", "the PostgreSQL database that the servers share (default: BANYAN_STORE)")
      .option("--conversations", "also list the open conversations", false)
      .addOption(textOrJson())
      .action(read),
};
