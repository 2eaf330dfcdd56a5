import { formatDuration } from "@banyan/core/shown";
import { cut, widthOf } from "../screen/cells.ts";
import type { Theme } from "../theme/theme.ts";
import { fitting } from "./drawn-lines.ts";

/** What goes on. */
export interface Activity {
  /** As in `running npm test`. */
  readonly what: string;
  /** Milliseconds for which it has. */
  readonly elapsed: number;
  /** Milliseconds until it goes on by itself; it is counted down. */
  readonly until?: number | undefined;
  /** The key that ends it; nothing when none does. */
  readonly stopKey?: string | undefined;
  /** The key that shows the sub-agents; nothing when there are none. */
  readonly agentsKey?: string | undefined;
}

const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
/** Milliseconds for which a frame of it is shown. */
export const SPIN_TIME = 120;

/** `⠙ Running npm test, 12 s (Esc to stop)` (T25). Without motion the sign in front stays as it is. */
export function spinnerLine(activity: Activity, moves: boolean, width: number, theme: Theme): string {
  const { what, elapsed, until, stopKey, agentsKey } = activity;
  const frame = moves ? (FRAMES[Math.floor(elapsed / SPIN_TIME) % FRAMES.length] ?? "•") : "•";
  const time = elapsed < 1_000 ? "" : `, ${wholeSeconds(elapsed)}`;
  const [rest = "", short = what] = [REST.exec(what)?.[1], what.replace(REST, "")];
  const stop = stopKey === undefined ? "" : `${stopKey} to stop`;
  const agents = agentsKey === undefined ? "" : `${agentsKey} shows them`;
  // The longest end that leaves room for the name. The key that stops it is the last to go.
  const ends =
    until === undefined
      ? [`${time}${inParentheses(stop, agents)}`, `${time}${inParentheses(stop)}`]
      : [`. Trying again ${again(until)}${inParentheses(rest, stop)}`, `. Again ${again(until)}${inParentheses(stop)}`];
  const names = (until === undefined ? [what, short] : [short]).map(
    (name) => name.charAt(0).toUpperCase() + name.slice(1),
  );
  const roomBefore = (end: string) => width - 2 - widthOf(end);
  const isTold = (end: string) => roomBefore(end) >= NAME || names.some((name) => widthOf(name) <= roomBefore(end));
  const behind = ends.find(isTold) ?? ends.at(-1) ?? "";
  const name = fitting(names, Math.max(8, roomBefore(behind)));
  return cut(`${theme.accent(frame)} ${name}${theme.dim(behind)}`, width);
}

function again(until: number): string {
  return until < 1_000 ? "now" : `in ${wholeSeconds(until)}`;
}

/** `(attempt 8, Esc to stop)`: nothing where no part is left. */
function inParentheses(...parts: readonly string[]): string {
  const shown = parts.filter((part) => part !== "");
  return shown.length === 0 ? "" : ` (${shown.join(", ")})`;
}

/** Columns in which a reader sees what goes on. */
const NAME = 16;

/** The number of attempts or of working sub-agents, which is left out where there is little room. */
const REST = /, (attempt \d+|\d+ sub-agents?)$/;

/** Whether things may move: nobody has asked for stillness. */
export function mayMove({ NO_MOTION, REDUCED_MOTION }: NodeJS.ProcessEnv): boolean {
  const asked = (value: string | undefined) => value !== undefined && value !== "" && value !== "0";
  return !asked(NO_MOTION) && !asked(REDUCED_MOTION);
}

function wholeSeconds(elapsed: number): string {
  return elapsed < 60_000 ? `${Math.floor(elapsed / 1_000)} s` : formatDuration(Math.floor(elapsed / 1_000) * 1_000);
}
