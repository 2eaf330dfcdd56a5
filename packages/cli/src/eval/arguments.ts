import { Option } from "commander";
import { type AgentFlags, withRuleFlags } from "../program/agent-flags.ts";
import {
  dollars,
  list,
  numberBetween,
  parseDurationFlag,
  positiveInteger,
  textOrJson,
} from "../program/flag-values.ts";
import type { CommandLine } from "../program/parse.ts";

/** Options of `banyan eval`. For an omitted option, the value in the file of cases applies. */
export interface EvalArguments extends Omit<AgentFlags, "model"> {
  readonly file: string;
  /** Models: `provider/model`, or `scripted`. If empty, the models of the file are used. */
  readonly model: readonly string[];
  readonly judge?: string;
  readonly repetitions?: number;
  readonly atOnce?: number;
  /** Maximum cost of all attempts together, in US dollars. */
  readonly maxCost?: number;
  /** Maximum time of all attempts together, in milliseconds. */
  readonly timeout?: number;
  readonly minPass: number;
  /** Starts a new evaluation even if this file has an evaluation. */
  readonly new: boolean;
  /** Parent folder of the attempts' folders. */
  readonly directory?: string;
  readonly output: "text" | "json";
  readonly junit?: string;
  readonly quiet: boolean;
}

const MORE = `
Each attempt works by itself in a folder of its own, as banyan run does. Calls that
need approval are denied, so most cases need --approval edits or all. Each attempt
is a branch of one conversation, which you can open and continue. After a stop, the
same command continues, and keeps the results of cases that did not change. --new
starts again. docs/evaluate.md describes how to write cases.

Exit codes:
  0 enough attempts passed · 1 not · 2 the file or the command line is wrong
  3 stopped at a limit · 5 authentication · 130 interrupted`;

export const evalLine: CommandLine<EvalArguments> = {
  define: (command, read) => {
    command
      .description("Test agents with cases. A case has files, a prompt, and conditions that the result must meet.")
      .argument("<file>", "the cases, as YAML")
      .addOption(list("-m, --model <name>", "a model to test, as provider/model, or scripted; can be repeated"))
      .option("--judge <name>", "the model that judges")
      .addOption(new Option("-n, --repetitions <count>", "attempts of each case").argParser(positiveInteger))
      .addOption(new Option("--at-once <count>", "attempts that run at once (default: 4)").argParser(positiveInteger))
      .addOption(new Option("--max-cost <dollars>", "most US dollars for all attempts").argParser(dollars))
      .addOption(
        new Option("--timeout <time>", "most time for all attempts: seconds, or 30m, 2h").argParser(parseDurationFlag),
      )
      .addOption(
        new Option("--min-pass <percent>", "share of the attempts that must pass for exit code 0")
          .argParser(numberBetween(0, 100))
          .default(100, "all"),
      );
    withRuleFlags(command, "the folder of a case")
      .option("--new", "start a new evaluation, even if this file already has an evaluation", false)
      .option("--directory <folder>", "create the folders of attempts in this folder")
      .addOption(textOrJson())
      .option("--json", "the same as --output json")
      .option("--junit <file>", "also write JUnit XML to this file")
      .option("-q, --quiet", "print only problems on stderr", false)
      .addHelpText("after", MORE)
      .action((file: string, { json, ...options }: Omit<EvalArguments, "file"> & { readonly json?: true }) =>
        read({ ...options, file, ...(json && { output: "json" }) }),
      );
  },
};
