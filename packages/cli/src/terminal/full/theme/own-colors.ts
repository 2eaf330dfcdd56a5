import { readFileSync, statSync } from "node:fs";
import { errorMessage, isJsonRecord, nearest, visibleLine } from "@banyan/core/shown";
import { type ColorName, colorNames } from "./palette.ts";

/** The colours that a user's file defines. */
export interface OwnColors {
  readonly base: string;
  readonly colors: Readonly<Partial<Record<ColorName, string>>>;
  /** Ignored parts of the file, one sentence each. */
  readonly problems: readonly string[];
}

const LARGEST = 65_536;

/** Reads a file of colours: `{"base":"dark","colors":{"good":"#7ec699"}}`. Returns faults in `problems`. */
export function readColors(file: string, bases: readonly string[]): OwnColors {
  const say = (problem: string) => `theme: ${visibleLine(file)}: ${problem}${problem.endsWith("?") ? "" : "."}`;
  const nothing = (problem: string): OwnColors => ({ base: "auto", colors: {}, problems: [say(problem)] });
  let value: unknown;
  try {
    const found = statSync(file);
    if (!found.isFile() || found.size > LARGEST) return nothing(`expected a file of at most ${LARGEST} bytes`);
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    return nothing(`it cannot be read: ${visibleLine(errorMessage(error))}`);
  }
  const { base = "auto", colors = {}, ...others } = isJsonRecord(value) ? value : { colors: null };
  if (!isJsonRecord(colors)) return nothing('expected {"base":"dark","colors":{"good":"#7ec699"}}');
  const problems = Object.keys(others).map((name) =>
    say(`there is no '${visibleLine(name)}'; expected base and colors`),
  );
  const isBase = typeof base === "string" && bases.includes(base);
  if (!isBase) problems.push(say(`base: expected one of ${bases.join(", ")}`));
  const read = Object.entries(colors).filter(([name, color]) => {
    if (!colorNames.some((known) => known === name)) {
      const [near] = nearest(name, colorNames);
      const advice = near === undefined ? `expected ${colorNames.join(", ")}` : `did you mean '${near}'?`;
      problems.push(say(`there is no colour '${visibleLine(name)}'; ${advice}`));
      return false;
    }
    if (typeof color === "string" && /^#[\da-f]{6}$/i.test(color)) return true;
    problems.push(say(`${name}: expected a colour as in "#7ec699"`));
    return false;
  });
  return { base: isBase ? base : "auto", colors: Object.fromEntries(read), problems };
}
