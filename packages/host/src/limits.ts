import type { Limits } from "@banyan/core";
import type { Settings } from "./settings/index.ts";

/** What the settings bound a turn to: seconds there, milliseconds here. */
export function limitsOf({ limits = {} }: Settings): Limits {
  const { time, ...counts } = limits;
  return { ...counts, ...(time === undefined ? {} : { time: time * 1_000 }) };
}
