import { Command, Option } from "commander";
import { positiveInteger } from "../flag-values.ts";
import { parse, type UnperformedLine } from "../parse.ts";

/** Arguments of `banyan memory`; omitted options are absent. */
export type MemoryArguments =
  | { readonly action: "list"; readonly limit?: number; readonly output: "text" | "json" }
  | { readonly action: "search"; readonly words: string; readonly limit?: number; readonly output: "text" | "json" }
  | { readonly action: "add"; readonly text: string }
  | { readonly action: "remove"; readonly ids: readonly number[] }
  /** `conversation`: only memories from this conversation. Default: all memories. */
  | { readonly action: "clear"; readonly conversation?: string; readonly yes: boolean };

/** Parses the arguments of `banyan memory`, or returns what is wrong with them. */
export function readMemory(
  argv: readonly string[],
): { readonly type: "memory"; readonly arguments: MemoryArguments } | UnperformedLine {
  let wanted: MemoryArguments = { action: "list", output: "text" };
  const command = new Command("banyan memory")
    .description("The agent's memory of conversations. docs/memory.md explains it.")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false);
  const sub = (usage: string, description: string) =>
    command.command(usage).description(description).helpOption("-h, --help", "print this help");
  const limit = () => new Option("-n, --limit <count>", "at most this many").argParser(positiveInteger);
  const output = () => new Option("-o, --output <format>", "text or json").choices(["text", "json"]).default("text");

  sub("list", "list entries, newest first")
    .addOption(limit())
    .addOption(output())
    .action((options) => {
      wanted = { action: "list", ...options };
    });
  sub("search <words...>", "find entries with all of these words, in any order")
    .addOption(limit())
    .addOption(output())
    .action((words: readonly string[], options) => {
      wanted = { action: "search", words: words.join(" "), ...options };
    });
  sub("add <text...>", "remember a fact").action((text: readonly string[]) => {
    wanted = { action: "add", text: text.join(" ") };
  });
  sub("remove <ids...>", "forget entries for good, by their numbers in the list").action((ids: readonly string[]) => {
    wanted = { action: "remove", ids: ids.map(positiveInteger) };
  });
  sub("clear", "forget everything for good")
    .option("-i, --in <conversation>", "only what comes from this conversation alone")
    .option("-y, --yes", "without asking", false)
    .action(({ in: conversation, yes }: { readonly in?: string; readonly yes: boolean }) => {
      wanted = { action: "clear", yes, ...(conversation === undefined ? {} : { conversation }) };
    });
  return parse(command, argv.length === 0 ? ["list"] : argv) ?? { type: "memory", arguments: wanted };
}
