import { nearest } from "./shown/nearest.ts";

/** Error of an unknown option, or of an invalid value. The message names the option. */
export class OptionError extends Error {
  override readonly name = "OptionError";
  readonly code = "invalid-option";
}

/** The names of all options of an interface. The compiler reports missing and unknown names. */
export type OptionNames<Options> = { readonly [Name in keyof Required<Options>]: true };

/**
 * Throws `OptionError` for an unknown name in an options object, because a misspelt option would have no effect. The
 * message suggests the nearest known name (F76).
 * @param owner The owner of the options, such as `sqliteStore` or `an agent`, for the message.
 * @param within Path of the object inside the options, with a dot at its end, as in `limits.`.
 * @example
 * interface GardenOptions {
 *   readonly trees: number;
 *   readonly pond?: boolean;
 * }
 * const NAMES: OptionNames<GardenOptions> = { trees: true, pond: true };
 * function garden(options: GardenOptions): void {
 *   refuseUnknown("garden", options, NAMES);
 * }
 */
export function refuseUnknown(
  owner: string,
  options: object | undefined,
  names: Readonly<Record<string, true>>,
  within = "",
): void {
  if (options === undefined) return;
  if (typeof options !== "object" || options === null) {
    const what = within === "" ? `The options of ${owner}` : `${within.slice(0, -1)} of ${owner}`;
    throw new OptionError(`${what} must be an object, not ${options === null ? "null" : `a ${typeof options}`}.`);
  }
  for (const name in options) {
    if (Object.hasOwn(names, name)) continue;
    const known = Object.keys(names);
    const advice = didYouMean(name, known, within) ?? `the options are ${known.join(", ")}.`;
    throw new OptionError(`${within}${name} is no option of ${owner}; ${advice}`);
  }
}

export function didYouMean(name: string, known: readonly string[], within = ""): string | undefined {
  const near = nearest(name.slice(0, 100), known);
  return near.length > 0 ? `did you mean ${near.map((one) => within + one).join(" or ")}?` : undefined;
}

/** Returns an object with only those options that `names` lists. */
export function pickOptions<Options extends object>(options: Options, names: Partial<OptionNames<Options>>): Options {
  const picked = Object.entries(options).filter(([name]) => Object.hasOwn(names, name));
  return Object.fromEntries(picked) as Options;
}
