import { Command, Option } from "commander";
import { parse, type UnperformedLine } from "../parse.ts";

/** Arguments of `banyan nodes`; omitted options are absent. */
export interface NodesArguments {
  /** Address of the database. Default: BANYAN_STORE. */
  readonly store?: string;
  /** True to list the open conversations of each server. */
  readonly conversations: boolean;
  readonly output: "text" | "json";
}

/** Parses the arguments of `banyan nodes`, or returns what is wrong with them. */
export function readNodes(
  argv: readonly string[],
): { readonly type: "nodes"; readonly arguments: NodesArguments } | UnperformedLine {
  const command = new Command("banyan nodes")
    .description("The servers that share a database, where they are, and how many conversations each has open.")
    .option("--store <url>", "the PostgreSQL database that they share (default: BANYAN_STORE)")
    .option("--conversations", "list these, too", false)
    .addOption(new Option("-o, --output <format>", "text or json").choices(["text", "json"]).default("text"))
    .helpOption("-h, --help", "print this help")
    .allowExcessArguments(false);
  return parse(command, argv) ?? { type: "nodes", arguments: command.opts<NodesArguments>() };
}
