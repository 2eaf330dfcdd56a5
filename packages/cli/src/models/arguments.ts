import { textOrJson } from "../program/flag-values.ts";
import type { CommandLine } from "../program/parse.ts";

export interface ModelsArguments {
  /** List this provider's models. Default: list the providers. */
  readonly provider?: string;
  readonly output: "text" | "json";
}

export const modelsLine: CommandLine<ModelsArguments> = {
  define: (command, read) =>
    command
      .description(
        "Providers that work here, and what others need. With a provider, its models, prices and context sizes.",
      )
      .argument("[provider]", "such as anthropic, openai or ollama")
      .addOption(textOrJson())
      .action((provider: string | undefined, { output }) =>
        read({ output, ...(provider === undefined ? {} : { provider }) }),
      ),
};
