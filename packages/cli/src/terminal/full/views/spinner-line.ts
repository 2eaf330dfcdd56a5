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

/** `⠙ running npm test, 12 s, Esc stops` (T25). Without motion the sign in front stays as it is. */
export function spinnerLine(activity: Activity, moves: boolean, width: number, theme: Theme): string {
  const { what, elapsed, until, stopKey, agentsKey } = activity;
  const frame = moves ? (FRAMES[Math.floor(elapsed / SPIN_TIME) % FRAMES.length] ?? "•") : "•";
  const again = until === undefined ? undefined : until < 1_000 ? "again now" : `again in ${wholeSeconds(until)}`;
  const time = again ?? (elapsed < 1_000 ? "" : wholeSeconds(elapsed));
  const stop = stopKey === undefined ? "" : `${stopKey} stops`;
  const agents = agentsKey === undefined ? "" : `${agentsKey} shows them`;
  // Where there is little room, what goes on and the key that ends it are told before all else.
  const ends = [
    [again === undefined ? time : `asked ${again}`, stop, agents],
    [time, stop, agents],
    [time, stop],
  ].map((texts) => texts.filter((text) => text !== "").join(", "));
  const names = [what, what.replace(REST, "")];
  const roomBefore = (end: string) => width - 2 - (end === "" ? 0 : end.length + 2);
  const isTold = (end: string) => roomBefore(end) >= NAME || names.some((name) => widthOf(name) <= roomBefore(end));
  const behind = ends.find(isTold) ?? ends.at(-1) ?? "";
  const name = fitting(names, Math.max(8, roomBefore(behind)));
  return cut(`${theme.accent(frame)} ${name}${behind === "" ? "" : theme.dim(`, ${behind}`)}`, width);
}

/** Columns in which a reader sees what goes on. */
const NAME = 16;

/** How often it was tried, or how many sub-agents work, stands there where there is room. */
const REST = /, (?:attempt \d+|\d+ sub-agents?)$/;

/** Whether things may move: nobody has asked for stillness. */
export function mayMove({ NO_MOTION, REDUCED_MOTION }: NodeJS.ProcessEnv): boolean {
  const asked = (value: string | undefined) => value !== undefined && value !== "" && value !== "0";
  return !asked(NO_MOTION) && !asked(REDUCED_MOTION);
}

function wholeSeconds(elapsed: number): string {
  return elapsed < 60_000 ? `${Math.floor(elapsed / 1_000)} s` : formatDuration(Math.floor(elapsed / 1_000) * 1_000);
}
