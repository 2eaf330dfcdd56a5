import { Command, Option } from "commander";
import { parse, type Unread } from "../parse.ts";

/** What a line of `banyan nodes` says; what it leaves out is absent. */
export interface NodesArguments {
  /** The address of the database; BANYAN_STORE when absent. */
  readonly store?: string;
  /** Whether the conversations that each has open are listed, too. */
  readonly conversations: boolean;
  readonly output: "text" | "json";
}

/** Reads what follows `banyan nodes`, or says why it cannot be read. */
export function readNodes(
  argv: readonly string[],
): { readonly type: "nodes"; readonly arguments: NodesArguments } | Unread {
  const command = new Command("banyan nodes")
    .description("The servers that share a database, where they are, and how many conversations each has open.")
    .option("--store <url>", "the PostgreSQL database that they share (default: BANYAN_STORE)")
    .option("--conversations", "list these, too", false)
    .addOption(new Option("-o, --output <format>", "text or json").choices(["text", "json"]).default("text"))
    .helpOption("-h, --help", "print this help")
    .allowExcessArguments(false);
  return parse(command, argv) ?? { type: "nodes", arguments: command.opts<NodesArguments>() };
}
