import type { Limits } from "@banyan/core";

/** The unit of a setting whose value is a number. The unit decides the valid values. */
export type NumberUnit = "count" | "dollars" | "seconds" | "levels" | "temperature" | "probability" | "seed";

/** The name of a limit whose value is a number, such as `steps` or `cost`. */
export type LimitName = Exclude<keyof Limits, "policy">;

/** A setting whose value is a number, as in `banyan config`. */
export type NumberSetting =
  | "temperature"
  | "topP"
  | "seed"
  | "maxTokens"
  | `connection.${"silence" | "retryTime" | "attempts"}`
  | `limits.${LimitName}`;

interface NumberRow {
  readonly unit: NumberUnit;
  /** The description in the settings. */
  readonly sentence: string;
  /** Environment variables that set the value. The last one that is set counts. */
  readonly variables?: readonly string[];
  /** The command-line option, its help sentence, and its former name. */
  readonly flag?: { readonly option: string; readonly sentence: string; readonly before?: string };
}

/** All settings whose value is a number, in the order of the command line's help. */
export const numberSettings: Readonly<Record<NumberSetting, NumberRow>> = {
  temperature: {
    unit: "temperature",
    sentence: "Sampling temperature of the model, from 0 to 2.",
    variables: ["BANYAN_TEMPERATURE"],
    flag: { option: "--temperature <number>", sentence: "sampling temperature of the model, from 0 to 2" },
  },
  topP: {
    unit: "probability",
    sentence: "Nucleus sampling of the model, from 0 to 1.",
    variables: ["BANYAN_TOP_P"],
    flag: { option: "--top-p <number>", sentence: "nucleus sampling of the model, from 0 to 1" },
  },
  seed: {
    unit: "seed",
    sentence: "Seed for the random choices of the model, a whole number of at least 0. Some models refuse a seed.",
    variables: ["BANYAN_MODEL_SEED"],
    flag: { option: "--seed <number>", sentence: "seed for the random choices of the model" },
  },
  maxTokens: {
    unit: "count",
    sentence: "Maximum tokens in one answer.",
    variables: ["BANYAN_MAX_TOKENS"],
    flag: { option: "--max-tokens <number>", sentence: "most tokens in one answer" },
  },
  "limits.steps": {
    unit: "count",
    sentence: "Maximum model calls in a turn. Default: 50.",
    variables: ["BANYAN_MAX_TURNS", "BANYAN_MAX_STEPS"],
    flag: {
      option: "--max-steps <number>",
      sentence: "most model calls in one turn (default: 50)",
      before: "--max-turns <number>",
    },
  },
  "limits.tokens": { unit: "count", sentence: "Maximum input and output tokens of a turn, with its sub-agents." },
  "limits.cost": {
    unit: "dollars",
    sentence: "Maximum US dollars for a turn, with its sub-agents.",
    variables: ["BANYAN_MAX_COST"],
    flag: { option: "--max-cost <dollars>", sentence: "most US dollars for one turn" },
  },
  "limits.time": {
    unit: "seconds",
    sentence: "Maximum seconds for a turn.",
    variables: ["BANYAN_TIMEOUT"],
    flag: { option: "--timeout <time>", sentence: "most time for one turn: seconds, or 30s, 5m, 1h" },
  },
  "limits.depth": { unit: "levels", sentence: "Maximum nesting of sub-agents. 0 allows no sub-agent." },
  "limits.repeats": {
    unit: "count",
    sentence: "How many times a turn repeats a call while the result stays the same and no file changes. Default: 10.",
  },
  "connection.silence": {
    unit: "seconds",
    sentence: "Seconds without data after which a connection counts as broken. Default: 120.",
    variables: ["BANYAN_SILENCE"],
    flag: {
      option: "--silence <time>",
      sentence: "give up on a model after this time without a sign of life (default: 120s)",
    },
  },
  "connection.retryTime": {
    unit: "seconds",
    sentence: "Seconds for which Banyan retries a failing model. Default: 300.",
    variables: ["BANYAN_RETRY_TIME"],
    flag: { option: "--retry-time <time>", sentence: "how long to retry a model that fails (default: 5m)" },
  },
  "connection.attempts": {
    unit: "count",
    sentence: "Maximum model calls for one answer. Default: as many as fit into `retryTime`.",
    variables: ["BANYAN_ATTEMPTS"],
    flag: {
      option: "--attempts <number>",
      sentence: "most model calls for one answer (default: as many as fit in that time)",
    },
  },
};
