import { textOrJson } from "../program/flag-values.ts";
import type { CommandLine } from "../program/parse.ts";

export interface ModelsArguments {
  readonly provider?: string;
  readonly output: "text" | "json";
}

export const modelsLine: CommandLine<ModelsArguments> = {
  define: (command, read) =>
    command
      .description(
        "List the providers that work on this machine, and what the others need. With a provider, list its models, prices and context sizes.",
      )
      .argument("[provider]", "the provider, such as anthropic, openai or ollama")
      .addOption(textOrJson())
      .action((provider: string | undefined, { output }) =>
        read({ output, ...(provider === undefined ? {} : { provider }) }),
      ),
};
