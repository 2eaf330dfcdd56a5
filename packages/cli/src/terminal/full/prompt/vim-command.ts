/** What is done with what a motion, an object or a selection says. */
export type Operator = "d" | "c" | "y";

/** Keys of a command, by what they are: `2d3w` deletes six words. */
export interface Keys {
  readonly count: number | undefined;
  readonly operator: Operator | undefined;
  /** A motion, an object, or a letter that is a command of its own. */
  readonly rest: string;
}

/** Letters that stand for an operator and a motion. */
const SHORT: Readonly<Record<string, string>> = { x: "dl", X: "dh", D: "d$", C: "c$", s: "cl", S: "cc", Y: "yy" };

/** Letters that stand for an operator where something is selected; capitals are about whole lines. */
export const SELECTED: Readonly<Record<string, Operator>> = {
  ...{ d: "d", x: "d", D: "d", X: "d", y: "y", Y: "y" },
  ...{ c: "c", s: "c", C: "c", S: "c", R: "c" },
};

/** How often a command is done at most: a larger number is a slip of the hand. */
export const MOST = 999;

/** Letters that change a text, beside the operators: `.` does them again. */
export const CHANGES = /^[rJ~pPiaIAoO]/;

/** What keys say so far. A letter that stands for an operator and a motion is these. */
export function commandOf(keys: string): Keys {
  const [, first = "", operator, times = "", given = ""] =
    /^([1-9]\d*)?(?:([dcy])([1-9]\d*)?)?(.*)$/su.exec(keys) ?? [];
  const short = operator === undefined ? SHORT[given] : undefined;
  const count = first === "" && times === "" ? undefined : Math.min(MOST, Number(first || 1) * Number(times || 1));
  if (short !== undefined) return { count, operator: short.slice(0, 1) as Operator, rest: short.slice(1) };
  return { count, operator: operator as Operator | undefined, rest: given };
}

/** Whether more keys belong to a command. */
export function isBegun({ operator, rest }: Keys): boolean {
  return rest === "" || /^[gfFtT]$/.test(rest) || (operator ? /^[ia]$/ : /^r$/).test(rest);
}
