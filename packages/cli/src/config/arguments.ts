import { Option } from "commander";
import { textOrJson } from "../program/flag-values.ts";
import type { CommandLine } from "../program/parse.ts";

/** Options of `banyan config`. `project`: use the project's file instead of the user's. */
export type ConfigArguments =
  | { readonly action: "get"; readonly key?: string; readonly output: "text" | "json" }
  | { readonly action: "set"; readonly key: string; readonly value: string; readonly project: boolean }
  | { readonly action: "unset"; readonly key: string; readonly project: boolean }
  | { readonly action: "path" }
  | { readonly action: "check" };

export const configLine: CommandLine<ConfigArguments> = {
  define: (command, read) => {
    command.description(
      "Read and change settings. docs/configuration.md lists them. Write a nested setting with dots, such as limits.steps.",
    );
    const project = () => new Option("-p, --project", "use the project's file instead of yours").default(false);

    command
      .command("get [key]")
      .description("show a setting and where it comes from; without a key, all settings")
      .addOption(textOrJson())
      .action((key: string | undefined, { output }) =>
        read({ action: "get", output, ...(key === undefined ? {} : { key }) }),
      );
    command
      .command("set <key> <value>")
      .description("change a setting to a text or to JSON")
      .addOption(project())
      .action((key: string, value: string, options) => read({ action: "set", key, value, ...options }));
    command
      .command("unset <key>")
      .description("remove a setting")
      .addOption(project())
      .action((key: string, options) => read({ action: "unset", key, ...options }));
    command
      .command("path")
      .description("show the paths of the settings files")
      .action(() => read({ action: "path" }));
    command
      .command("check")
      .description("list problems with file and line; exit code 2 if there are problems")
      .action(() => read({ action: "check" }));
  },
  complete: (argv) => (argv.length === 0 ? ["get"] : argv),
};
