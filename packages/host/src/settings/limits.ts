import type { Limits } from "@banyan/core";
import type { Settings } from "./index.ts";

/** What a limit is counted in, which says what a value of it must be. */
export type LimitUnit = "count" | "dollars" | "seconds" | "levels";

/** The limits of a turn that are numbers. */
export type LimitName = Exclude<keyof Limits, "policy">;

/** How people set a limit. */
interface LimitRow {
  readonly unit: LimitUnit;
  /** For the settings, after whose unit it is counted. */
  readonly sentence: string;
  /** Variables of the environment; of two that are set, the last one counts. */
  readonly variables?: readonly string[];
  /** How it is written on the command line, what it says there, and how it was called before. */
  readonly flag?: { readonly option: string; readonly sentence: string; readonly before?: string };
}

/** All limits: what the settings, the environment and the command line know of one stands here, in one row. */
const rows: { readonly [Name in LimitName]: LimitRow } = {
  steps: {
    unit: "count",
    sentence: "Most model calls in a turn. Default: 50.",
    variables: ["BANYAN_MAX_TURNS", "BANYAN_MAX_STEPS"],
    flag: {
      option: "--max-steps <number>",
      sentence: "most model calls in one turn (default: 50)",
      before: "--max-turns <number>",
    },
  },
  tokens: { unit: "count", sentence: "Most tokens in a turn: input and output, with its sub-agents." },
  cost: {
    unit: "dollars",
    sentence: "Most US dollars for a turn, with its sub-agents.",
    variables: ["BANYAN_MAX_COST"],
    flag: { option: "--max-cost <dollars>", sentence: "most US dollars for one turn" },
  },
  time: {
    unit: "seconds",
    sentence: "Most seconds for a turn.",
    variables: ["BANYAN_TIMEOUT"],
    flag: { option: "--timeout <time>", sentence: "most time for one turn: seconds, or 30s, 5m, 1h" },
  },
  depth: { unit: "levels", sentence: "How deep sub-agents may be nested; 0 allows none." },
  repeats: {
    unit: "count",
    sentence: "How often a turn may repeat a call with the same result while no file changes. Default: 10.",
  },
};

/** All of them, with their names. */
export const limits = Object.entries(rows) as [LimitName, LimitRow][];

/** What the settings bound a turn to: seconds there, milliseconds here. */
export function limitsOf({ limits = {} }: Settings): Limits {
  const { time, ...counts } = limits;
  return { ...counts, ...(time === undefined ? {} : { time: time * 1_000 }) };
}
