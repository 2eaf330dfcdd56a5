import { InvalidArgumentError, Option } from "commander";
import { positiveInteger, textOrJson } from "../program/flag-values.ts";
import type { CommandLine } from "../program/parse.ts";

export interface AddedEntry {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
}

/** Options of `banyan mcp`. An omitted option is absent. */
export type McpArguments =
  | { readonly action: "list"; readonly output: "text" | "json" }
  | {
      readonly action: "add";
      readonly name: string;
      /** An entry for `mcpServers` in the settings. It is validated when it is added. */
      readonly entry: AddedEntry;
    }
  | { readonly action: "remove" | "test" | "login"; readonly name: string };

interface AddServerFlags {
  readonly env?: Readonly<Record<string, string>>;
  readonly header?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly timeout?: number;
}

export const mcpLine: CommandLine<McpArguments> = {
  define: (command, read) => {
    command
      .description("Manage MCP servers, which add tools to the agent. docs/mcp.md describes the settings of a server.")
      .enablePositionalOptions();
    command
      .command("list")
      .description("list the servers used here and where they come from, without connecting")
      .addOption(textOrJson())
      .action(({ output }) => read({ action: "list", output }));
    command
      .command("add <name> <command-or-address> [arguments...]")
      .description("add a server to your settings; options come before the name")
      .passThroughOptions()
      .addOption(pairsFlag("-e, --env <NAME=VALUE>", "an environment variable for the program; can be repeated"))
      .addOption(pairsFlag("-H, --header <NAME=VALUE>", "an HTTP header for the address; can be repeated"))
      .option("--cwd <folder>", "folder in which the program runs")
      .addOption(
        new Option("--timeout <milliseconds>", "give up after this time without a sign of life").argParser(
          positiveInteger,
        ),
      )
      .addHelpText("after", `\nWrite \${NAME} in a value to take it from your environment at each start.`)
      .action((name: string, target: string, rest: readonly string[], options: AddServerFlags) => {
        // Other programs require `--` before a command, so accept it here too.
        const [first, ...more] = target === "--" ? rest : [target, ...rest];
        if (first === undefined) command.error("error: missing required argument 'command-or-address'");
        else read({ action: "add", name, entry: entryFromFlags(first, more, options) });
      });
    for (const [action, description] of [
      ["remove", "remove a server from your settings, and forget its sign-in"],
      ["test", "connect to a server and list what it offers, without calling anything"],
      ["login", "sign in to a server in your browser"],
    ] as const)
      command
        .command(`${action} <name>`)
        .description(description)
        .action((name: string) => read({ action, name }));
  },
  complete: (argv) => (argv.length === 0 ? ["list"] : argv),
};

function entryFromFlags(
  target: string,
  rest: readonly string[],
  { env, header, cwd, timeout }: AddServerFlags,
): AddedEntry {
  const entry = /^https?:\/\//.test(target)
    ? { url: target, args: rest.length === 0 ? undefined : rest, headers: header, env, cwd, timeout }
    : { command: target, args: rest.length === 0 ? undefined : rest, env, cwd, headers: header, timeout };
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
}

function pairsFlag(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text: string, before: Record<string, string> | undefined) => {
    const at = text.indexOf("=");
    if (at < 1) throw new InvalidArgumentError("Use a name and a value, as in NAME=VALUE.");
    return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
  });
}
