import { homedir } from "node:os";
import { visibleLine } from "@banyan/core/shown";
import { projectOf, SettingsError, type Trust, TrustRecord } from "@banyan/host";
import { commandDirectory } from "../../program/host-options.ts";
import type { Arguments } from "../../program/prompt-arguments.ts";
import type { Terminal } from "../../terminal/contract/terminal.ts";
import type { DecisionChoice, DecisionRequest } from "../../terminal/questions/decision.ts";

/**
 * Returns whether Banyan may use the project's hooks, servers and rules (S5, S6). Asks the user if there is no decision
 * yet, or if new items can run or allow something. `--trust` decides without a question. `notice` receives warnings.
 */
export async function mayUseProject(
  args: Arguments,
  terminal: Terminal,
  notice: (sentence: string) => void,
): Promise<boolean> {
  const record = new TrustRecord({ env: process.env, home: homedir() });
  const directory = commandDirectory(args);
  const decided = record.trustOf(directory);
  switch (decided.state) {
    case "nothing":
      return args.trust && remember(() => record.trust(directory), notice);
    case "trusted":
      return true;
    case "distrusted":
      if (!args.trust)
        notice("This project's settings and instructions are not used, as you decided. --trust turns them on.");
      return args.trust && remember(() => record.trust(directory), notice);
    case "unknown":
    case "changed": {
      if (args.trust) return remember(() => record.trust(directory), notice);
      const choice = (await terminal.decide(decisionAbout(projectOf(directory).root, decided)))?.key;
      if (choice === "n") remember(() => record.distrust(directory), notice);
      if (choice !== "y") return false;
      remember(() => record.trust(directory, decided.items), notice);
      // Items that arrived during the question are not part of the user's yes.
      return record.trustOf(directory).state !== "changed";
    }
  }
}

/** Stores a decision. If that fails, the decision holds for this run. */
function remember(decide: () => void, notice: (sentence: string) => void): true {
  try {
    decide();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    notice(`Your decision could not be saved, so you will be asked again: ${error.message}`);
  }
  return true;
}

type UndecidedTrust = Extract<Trust, { state: "unknown" | "changed" }>;

const CHOICES: readonly DecisionChoice[] = [
  { key: "y", text: "Yes, use them", brief: "yes" },
  { key: "l", text: "Not this time", brief: "later" },
  { key: "n", text: "No, and don't ask again", brief: "never" },
];

function decisionAbout(root: string, { state, items }: UndecidedTrust): DecisionRequest {
  const what =
    state === "unknown"
      ? "This project has its own settings or instructions"
      : "The settings or instructions of this project have changed since you agreed to them";
  return {
    title: `${what}: ${visibleLine(root)}`,
    body: [
      ...items.map(({ kind, name, detail }) =>
        visibleLine(name === detail ? `${kind} ${name}` : `${kind} ${name}: ${detail}`),
      ),
      "",
      "Project settings and instructions can steer the agent and run commands with your rights. Use them only if you trust their author.",
    ],
    question: "Use them?",
    choices: CHOICES,
  };
}
