import type { ApprovalMode } from "@banyan/host";
import { type Command, Option } from "commander";
import { list } from "./flag-values.ts";

/** Options of a command whose agent serves clients: model, permissions and trust. */
export interface AgentFlags {
  readonly model?: string;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly network: readonly string[];
  readonly rules?: string;
  readonly approval?: ApprovalMode;
  readonly unconfined?: boolean;
  readonly trust?: boolean;
}

/** Adds the flags of `AgentFlags` to a command. `projects` completes the help of `--trust`. */
export function withAgentFlags(command: Command, projects: string): Command {
  return withRuleFlags(command.option("-m, --model <name>", "the model, as provider/model"), projects);
}

/** Adds the same flags as `withAgentFlags`, without the model. */
export function withRuleFlags(command: Command, projects: string): Command {
  return command
    .addOption(list("--allow <rule>", "run calls that match this rule without asking, such as 'shell(npm test*)'"))
    .addOption(list("--deny <rule>", "never run calls that match this rule; can be repeated, as --allow can"))
    .addOption(
      list("--network <address>", "let commands in the sandbox reach this address, such as example.org:443, unasked"),
    )
    .option("--rules <file>", "read permission rules from a JSON file")
    .addOption(
      new Option(
        "--approval <mode>",
        "approval mode, for calls without asking: plan (reads, until you approve a plan), ask (reads), edits (reads and edits here), sandbox (also commands in the sandbox), all",
      ).choices(["plan", "ask", "edits", "sandbox", "all"] satisfies ApprovalMode[]),
    )
    .option("--unconfined", "allow --approval all even where commands run without a sandbox")
    .option("--trust", `use the settings, servers and instructions of ${projects}`);
}
