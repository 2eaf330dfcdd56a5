import { formatDuration } from "@banyan/core/shown";
import { cut } from "../screen/cells.ts";
import type { Theme } from "../theme/theme.ts";

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
  const rest = [
    until === undefined ? (elapsed < 1_000 ? "" : wholeSeconds(elapsed)) : againIn(until),
    stopKey === undefined ? "" : `${stopKey} stops`,
    agentsKey === undefined ? "" : `${agentsKey} shows them`,
  ];
  const behind = rest.filter((text) => text !== "").join(", ");
  const room = Math.max(8, width - 4 - behind.length);
  return cut(`${theme.accent(frame)} ${cut(what, room)}${behind === "" ? "" : theme.dim(`, ${behind}`)}`, width);
}

/** `asked again in 12 s`; a wait that is about over is none to count. */
function againIn(until: number): string {
  return until < 1_000 ? "asked again now" : `asked again in ${wholeSeconds(until)}`;
}

/** Whether things may move: nobody has asked for stillness. */
export function mayMove({ NO_MOTION, REDUCED_MOTION }: NodeJS.ProcessEnv): boolean {
  const asked = (value: string | undefined) => value !== undefined && value !== "" && value !== "0";
  return !asked(NO_MOTION) && !asked(REDUCED_MOTION);
}

function wholeSeconds(elapsed: number): string {
  return elapsed < 60_000 ? `${Math.floor(elapsed / 1_000)} s` : formatDuration(Math.floor(elapsed / 1_000) * 1_000);
}
