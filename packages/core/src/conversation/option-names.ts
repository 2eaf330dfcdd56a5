import { nearest } from "./shown/nearest.ts";

/**
 * Error of an unknown option, or of an invalid value. The message names the option.
 * @example
 * try {
 *   new Agent({ model, limits: { steps: 5 } });
 * } catch (error) {
 *   if (error instanceof OptionError) console.log(error.message);
 * }
 */
export class OptionError extends Error {
  override readonly name = "OptionError";
  readonly code = "invalid-option";
}

/**
 * The names of all options of an interface, each with the kind of its values, or `true` if other code checks the value.
 * `!` after the kind marks a required option. The compiler reports missing and unknown names, and wrong kinds.
 * See {@link pickOptions}.
 */
export type OptionNames<Options> = {
  readonly [Name in keyof Required<Options>]:
    | true
    | Kind<Required<Options>[Name]>
    | `${Kind<Required<Options>[Name]>}!`;
};

type Kind<Value> = unknown extends Value ? never : OnlyKind<KindOf<Value>>;

type KindOf<Value> = Value extends undefined
  ? never
  : Value extends string
    ? "string"
    : Value extends boolean
      ? "boolean"
      : Value extends (...given: never[]) => unknown
        ? "function"
        : Value extends readonly unknown[]
          ? "list"
          : Value extends number
            ? "number"
            : "object";

/** `never` if the values of an option have several kinds: `true` is then the only choice. */
type OnlyKind<Kinds, All = Kinds> = Kinds extends string ? ([All] extends [Kinds] ? Kinds : never) : never;

/**
 * Throws `OptionError` for an unknown name in an options object, because a misspelt option would have no effect. The
 * message suggests the nearest known name (F76). Also throws for a value of the wrong kind, and for a missing option
 * that `names` requires (L11).
 * @param owner The owner of the options, such as `sqliteStore` or `an agent`, for the message.
 * @param within Path of the object inside the options, with a dot at its end, as in `limits.`.
 * @example
 * interface GardenOptions {
 *   readonly trees: number;
 *   readonly pond?: boolean;
 * }
 * const NAMES: OptionNames<GardenOptions> = { trees: "number!", pond: "boolean" };
 * function garden(options: GardenOptions): void {
 *   refuseUnknown("garden", options, NAMES);
 * }
 */
export function refuseUnknown(
  owner: string,
  options: object | undefined,
  names: Readonly<Record<string, true | string>>,
  within = "",
): void {
  if (options !== undefined && kindOf(options) !== "object") {
    const what = within === "" ? `The options of ${owner}` : `${within.slice(0, -1)} of ${owner}`;
    throw new OptionError(`${what} must be an object, not ${kindName(options)}.`);
  }
  let mayBeWrong = hasRequired(names);
  for (const name in options) {
    const kind = names[name];
    if (kind === true) continue;
    if (typeof kind !== "string") throw unknownOption(owner, name, Object.keys(names), within);
    const value = (options as Readonly<Record<string, unknown>>)[name];
    mayBeWrong ||= value !== undefined && kindOf(value) !== kind;
  }
  // Only now, because the list of all names takes longer than the given names.
  const problem = mayBeWrong ? kindProblem(owner, options ?? {}, names, within) : undefined;
  if (problem !== undefined) throw new OptionError(problem);
}

function unknownOption(owner: string, name: string, known: readonly string[], within: string): OptionError {
  const advice = didYouMean(name, known, within) ?? `the options are ${known.join(", ")}.`;
  return new OptionError(`${within}${name} is no option of ${owner}; ${advice}`);
}

const required = new WeakMap<object, boolean>();

function hasRequired(names: Readonly<Record<string, true | string>>): boolean {
  const known = required.get(names);
  if (known !== undefined) return known;
  const found = Object.values(names).some((kind) => typeof kind === "string" && kind.endsWith("!"));
  required.set(names, found);
  return found;
}

/**
 * Throws `OptionError` for an argument that is missing or has the wrong kind (L11). `kinds` has one kind for each
 * argument, or several: `string or undefined`.
 * @example
 * function water(trees: readonly string[]): void {
 *   checkArguments("garden.water", { trees }, { trees: "list" });
 * }
 */
export function checkArguments(owner: string, values: object, kinds: Readonly<Record<string, string>>): void {
  for (const name in values) {
    const value = (values as Readonly<Record<string, unknown>>)[name];
    const kind = kindOf(value);
    if (kind === kinds[name]) continue;
    const known = (kinds[name] ?? "").split(" or ");
    if (known.includes(kind)) continue;
    const wanted = known
      .filter((kind) => kind !== "undefined")
      .map((kind) => (kind === "null" ? kind : withArticle(kind)));
    throw new OptionError(`${name} of ${owner} must be ${wanted.join(" or ")}, not ${kindName(value)}.`);
  }
}

/**
 * Throws `OptionError` for a label that is no text (L11).
 * @example checkTexts("garden.list", { colour: "green" });
 */
export function checkTexts(owner: string, labels: Readonly<Record<string, string>> = {}): void {
  for (const [name, label] of Object.entries(labels))
    checkArguments(owner, { [`labels.${name}`]: label }, { [`labels.${name}`]: "string" });
}

/** Returns a sentence about an option with a value of the wrong kind, or about a missing option; nothing if all fit. */
export function kindProblem(
  owner: string,
  options: object,
  names: Readonly<Record<string, true | string>>,
  within = "",
): string | undefined {
  for (const name in names) {
    const marked = names[name];
    if (typeof marked !== "string") continue;
    const value = (options as Readonly<Record<string, unknown>>)[name];
    if (value === undefined && !marked.endsWith("!")) continue;
    const kind = marked.replace("!", "");
    if (kindOf(value) === kind) continue;
    return value === undefined
      ? `The option ${within}${name} of ${owner} is missing; it must be ${withArticle(kind)}.`
      : `${within}${name} of ${owner} must be ${withArticle(kind)}, not ${kindName(value)}.`;
  }
  return undefined;
}

function kindOf(value: unknown): string {
  if (typeof value !== "object") return typeof value;
  if (Array.isArray(value)) return "list";
  return value === null ? "null" : value instanceof Promise ? "promise" : "object";
}

function kindName(value: unknown): string {
  if (value === null || value === undefined) return `${value}`;
  return withArticle(value instanceof Promise ? "promise: await it" : kindOf(value));
}

function withArticle(kind: string): string {
  return `${/^[aeiou]/.test(kind) ? "an" : "a"} ${kind}`;
}

export function didYouMean(name: string, known: readonly string[], within = ""): string | undefined {
  const near = nearest(name.slice(0, 100), known);
  return near.length > 0 ? `did you mean ${near.map((one) => within + one).join(" or ")}?` : undefined;
}

/**
 * Returns an object with only those options that `names` lists.
 * @example const { temperature } = pickOptions({ temperature: 0.2, stop: ["END"] }, { temperature: true });
 */
export function pickOptions<Options extends object>(options: Options, names: Partial<OptionNames<Options>>): Options {
  const picked = Object.entries(options).filter(([name]) => Object.hasOwn(names, name));
  return Object.fromEntries(picked) as Options;
}
