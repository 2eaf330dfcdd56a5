import type { Limits } from "@banyan/core";

/** The unit of a limit, which decides its valid values. */
export type LimitUnit = "count" | "dollars" | "seconds" | "levels";

/** The name of a limit whose value is a number, such as `steps` or `cost`. */
export type LimitName = Exclude<keyof Limits, "policy">;

interface LimitRow {
  readonly unit: LimitUnit;
  /** The description in the settings. */
  readonly sentence: string;
  /** Environment variables; the last that is set counts. */
  readonly variables?: readonly string[];
  /** The command-line option, its help sentence, and its former name. */
  readonly flag?: { readonly option: string; readonly sentence: string; readonly before?: string };
}

/** For settings, environment and command line. */
const rows: { readonly [Name in LimitName]: LimitRow } = {
  steps: {
    unit: "count",
    sentence: "Maximum model calls in a turn. Default: 50.",
    variables: ["BANYAN_MAX_TURNS", "BANYAN_MAX_STEPS"],
    flag: {
      option: "--max-steps <number>",
      sentence: "most model calls in one turn (default: 50)",
      before: "--max-turns <number>",
    },
  },
  tokens: { unit: "count", sentence: "Maximum input and output tokens of a turn, with its sub-agents." },
  cost: {
    unit: "dollars",
    sentence: "Maximum US dollars for a turn, with its sub-agents.",
    variables: ["BANYAN_MAX_COST"],
    flag: { option: "--max-cost <dollars>", sentence: "most US dollars for one turn" },
  },
  time: {
    unit: "seconds",
    sentence: "Maximum seconds for a turn.",
    variables: ["BANYAN_TIMEOUT"],
    flag: { option: "--timeout <time>", sentence: "most time for one turn: seconds, or 30s, 5m, 1h" },
  },
  depth: { unit: "levels", sentence: "Maximum nesting of sub-agents. 0 allows no sub-agent." },
  repeats: {
    unit: "count",
    sentence: "How often a turn may repeat a call with the same result while no file changes. Default: 10.",
  },
};

/** All limits of a turn: their names, units, descriptions, variables and flags. */
export const limits = Object.entries(rows) as [LimitName, LimitRow][];
