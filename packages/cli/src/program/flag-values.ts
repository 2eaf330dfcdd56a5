import { InvalidArgumentError, Option } from "commander";

/** Returns the option `--output` of a command that lists something. */
export function textOrJson(): Option {
  return new Option("-o, --output <format>", "text or json").choices(["text", "json"]).default("text");
}

/** Returns the option `--limit` of a command that lists something. */
export function atMost(): Option {
  return new Option("-n, --limit <count>", "list at most this number of entries").argParser(positiveInteger);
}

/** Returns a repeatable option. Its values have the order of the command line. */
export function list(flags: string, description: string): Option {
  return new Option(flags, description)
    .argParser((value: string, previous: readonly string[]) => [...previous, value])
    .default([], "none");
}

// Parsers of flag values. Each throws an error with the explanation that the user reads.

/** Returns a parser for a number from `min` to `max`. */
export function numberBetween(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = numberIn(text);
    if (value === undefined || value < min || value > max)
      throw new InvalidArgumentError(`Use a number from ${min} to ${max}.`);
    return value;
  };
}

/** Returns a parser for an integer of at least `least`. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = numberIn(text);
    if (value === undefined || !Number.isSafeInteger(value) || value < least)
      throw new InvalidArgumentError(`Use a whole number of at least ${least}.`);
    return value;
  };
}

export const positiveInteger: (text: string) => number = wholeNumber(1);

/** Parses US dollars, with or without the sign. */
export function dollars(text: string): number {
  const value = numberIn(text.replace(/^\$/, ""));
  if (value === undefined || value <= 0)
    throw new InvalidArgumentError("Use an amount of US dollars above 0, such as 0.50.");
  return value;
}

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

const LONGEST = 2 ** 31 - 1;

/** Parses a time in seconds, or with a unit `ms`, `s`, `m` or `h`. Returns milliseconds. */
export function parseDurationFlag(text: string): number {
  const [, amount = "", unit = "s"] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text.trim()) ?? [];
  const milliseconds = Number(amount || Number.NaN) * UNITS[unit as keyof typeof UNITS];
  if (!(milliseconds > 0 && milliseconds <= LONGEST)) {
    throw new InvalidArgumentError("Use seconds, or a time such as 30s, 5m or 1h (at most 24 days).");
  }
  return milliseconds;
}

function numberIn(text: string): number | undefined {
  return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(text.trim()) ? Number(text) : undefined;
}
