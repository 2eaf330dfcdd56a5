/** vi's operators on a motion, text object or selection: delete, change, yank. */
export type Operator = "d" | "c" | "y";

/** The parts of a vi command: `2d3w` deletes six words. */
export interface Keys {
  readonly count: number | undefined;
  readonly operator: Operator | undefined;
  /** A motion, a text object, or a command letter. */
  readonly rest: string;
}

/** Letters that abbreviate an operator with a motion. */
const SHORT: Readonly<Record<string, string>> = { x: "dl", X: "dh", D: "d$", C: "c$", s: "cl", S: "cc", Y: "yy" };

/** vi's operators by letter on a selection. Capital letters operate on whole lines. */
export const SELECTED: Readonly<Record<string, Operator>> = {
  d: "d",
  x: "d",
  D: "d",
  X: "d",
  y: "y",
  Y: "y",
  c: "c",
  s: "c",
  C: "c",
  S: "c",
  R: "c",
};

/** Maximum count of a vi command. Larger numbers are typing errors. */
export const MOST = 999;

/** Matches other vi commands that change the text, which `.` repeats. */
export const CHANGES = /^[rJ~pPiaIAoO]/;

/** Parses the keys of a vi command. Abbreviations are expanded. */
export function readVimKeys(keys: string): Keys {
  const [, first = "", operator, times = "", given = ""] =
    /^([1-9]\d*)?(?:([dcy])([1-9]\d*)?)?(.*)$/su.exec(keys) ?? [];
  const short = operator === undefined ? SHORT[given] : undefined;
  const count = first === "" && times === "" ? undefined : Math.min(MOST, Number(first || 1) * Number(times || 1));
  if (short !== undefined) return { count, operator: short.slice(0, 1) as Operator, rest: short.slice(1) };
  return { count, operator: operator as Operator | undefined, rest: given };
}

export function needsMoreKeys({ operator, rest }: Keys): boolean {
  return rest === "" || /^[gfFtT]$/.test(rest) || (operator ? /^[ia]$/ : /^r$/).test(rest);
}
