import { formatDuration } from "@banyan/client/words";
import { longestThatFits } from "../overlay/drawn-lines.ts";
import { cutToWidth, textWidth } from "../screen/cells.ts";
import type { Theme } from "../theme/theme.ts";

export interface SpinnerActivity {
  /** Description, such as `running npm test`. */
  readonly what: string;
  readonly elapsed: number;
  /** Milliseconds until a retry, for a countdown. */
  readonly until?: number | undefined;
  /** The key that stops the work; undefined if none does. */
  readonly stopKey?: string | undefined;
  /** The key that shows the sub-agents; undefined without sub-agents. */
  readonly agentsKey?: string | undefined;
}

const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
/** Milliseconds per animation frame. */
export const SPIN_TIME = 120;

/**
 * Describes the current work, such as `⠙ Running npm test, 12 s (Esc to stop)` (T25). `moves`: whether the sign is
 * animated.
 */
export function spinnerLine(activity: SpinnerActivity, moves: boolean, width: number, theme: Theme): string {
  const { what, elapsed, until, stopKey, agentsKey } = activity;
  const frame = moves ? (FRAMES[Math.floor(elapsed / SPIN_TIME) % FRAMES.length] ?? "•") : "•";
  const time = elapsed < 1_000 ? "" : `, ${wholeSeconds(elapsed)}`;
  const [rest = "", short = what] = [REST.exec(what)?.[1], what.replace(REST, "")];
  const stop = stopKey === undefined ? "" : `${stopKey} to stop`;
  const agents = agentsKey === undefined ? "" : `${agentsKey} shows them`;
  // A first attempt has no number, because it waits for a rate limit.
  const [next, nextShort] = rest === "" ? ["Continuing", "Continuing"] : ["Trying again", "Again"];
  // Use the longest ending that leaves room for the name. The stop key is dropped last.
  const ends =
    until === undefined
      ? [`${time}${inParentheses(stop, agents)}`, `${time}${inParentheses(stop)}`]
      : [
          `. ${next} ${again(until)}${inParentheses(rest, stop)}`,
          `. ${nextShort} ${again(until)}${inParentheses(stop)}`,
        ];
  const names = (until === undefined ? [what, short] : [short]).map(
    (name) => name.charAt(0).toUpperCase() + name.slice(1),
  );
  const roomBefore = (end: string) => width - 2 - textWidth(end);
  const isTold = (end: string) => roomBefore(end) >= NAME || names.some((name) => textWidth(name) <= roomBefore(end));
  const behind = ends.find(isTold) ?? ends.at(-1) ?? "";
  const name = longestThatFits(names, Math.max(8, roomBefore(behind)));
  return cutToWidth(`${theme.accent(frame)} ${name}${theme.dim(behind)}`, width);
}

function again(until: number): string {
  return until < 1_000 ? "now" : `in ${wholeSeconds(until)}`;
}

/** Parts in parentheses, such as `(attempt 8, Esc to stop)`; empty without parts. */
function inParentheses(...parts: readonly string[]): string {
  const shown = parts.filter((part) => part !== "");
  return shown.length === 0 ? "" : ` (${shown.join(", ")})`;
}

const NAME = 16;

/** The number of attempts or sub-agents, which a narrow line omits. */
const REST = /, (attempt \d+|\d+ sub-agents?)$/;

export function mayMove({ NO_MOTION, REDUCED_MOTION }: NodeJS.ProcessEnv): boolean {
  const isSet = (value: string | undefined) => value !== undefined && value !== "" && value !== "0";
  return !isSet(NO_MOTION) && !isSet(REDUCED_MOTION);
}

function wholeSeconds(elapsed: number): string {
  return elapsed < 60_000 ? `${Math.floor(elapsed / 1_000)} s` : formatDuration(Math.floor(elapsed / 1_000) * 1_000);
}
