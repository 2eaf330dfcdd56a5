import { atMost, positiveInteger, textOrJson } from "../program/flag-values.ts";
import type { CommandLine } from "../program/parse.ts";

/** Options of `banyan memory`. An omitted option is absent. */
export type MemoryArguments =
  | { readonly action: "list"; readonly limit?: number; readonly output: "text" | "json" }
  | { readonly action: "search"; readonly words: string; readonly limit?: number; readonly output: "text" | "json" }
  | { readonly action: "add"; readonly text: string }
  | { readonly action: "remove"; readonly ids: readonly number[] }
  | { readonly action: "clear"; readonly conversation?: string; readonly yes: boolean };

export const memoryLine: CommandLine<MemoryArguments> = {
  define: (command, read) => {
    command.description("Manage what the agent remembers from conversations. docs/memory.md explains memory.");
    command
      .command("list")
      .description("list entries, newest first")
      .addOption(atMost())
      .addOption(textOrJson())
      .action((options) => read({ action: "list", ...options }));
    command
      .command("search <words...>")
      .description("find entries with all of these words, in any order")
      .addOption(atMost())
      .addOption(textOrJson())
      .action((words: readonly string[], options) => read({ action: "search", words: words.join(" "), ...options }));
    command
      .command("add <text...>")
      .description("remember a fact")
      .action((text: readonly string[]) => read({ action: "add", text: text.join(" ") }));
    command
      .command("remove <ids...>")
      .description("forget entries for good, by their numbers in the list")
      .action((ids: readonly string[]) => read({ action: "remove", ids: ids.map(positiveInteger) }));
    command
      .command("clear")
      .description("forget everything for good")
      .option("-i, --in <conversation>", "only entries that come from this conversation alone")
      .option("-y, --yes", "do not ask for confirmation", false)
      .action(({ in: conversation, yes }: { readonly in?: string; readonly yes: boolean }) =>
        read({ action: "clear", yes, ...(conversation === undefined ? {} : { conversation }) }),
      );
  },
  complete: (argv) => (argv.length === 0 ? ["list"] : argv),
};
