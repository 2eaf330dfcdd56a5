import type { OverlayView } from "./overlay/overlay.ts";
import { cutToWidth } from "./screen/cells.ts";
import type { ScreenPosition, ScreenSize } from "./screen/live-region.ts";

/** Parts of the screen's bottom, from top to bottom. */
export interface Parts {
  readonly spinner: string | undefined;
  /** The agent's plan on at most `most` lines. */
  plan(most: number): readonly string[];
  readonly waiting: readonly string[];
  readonly input: OverlayView;
  readonly status: string;
}

/** Lines of the screen's bottom, and the number of lines above for unfinished output. */
export interface BottomLayout {
  readonly lines: readonly string[];
  readonly cursor: ScreenPosition | undefined;
  readonly room: number;
}

/** Minimum rows of a screen with a status line. */
export const STATUS_FROM = 8;
const APART_FROM = 16;
/** Minimum lines for the transcript, if there are enough rows. */
const LEAST_ROOM = 2;

/** A plan may take one row in this many. */
const PLAN_SHARE = 5;

/** Stacks the parts of the screen's bottom. On a small screen the least important parts are left out first (T26). */
export function layOutBottom(
  { spinner, plan, waiting, input, status }: Parts,
  { columns, rows }: ScreenSize,
): BottomLayout {
  const most = Math.max(1, rows - 1);
  const below = status !== "" && rows >= STATUS_FROM && input.lines.length < most ? [status] : [];
  let left = most - input.lines.length - below.length;
  const above = [
    ...(rows >= APART_FROM && left > 2 ? [""] : []),
    ...(spinner !== undefined && left > 0 ? [spinner] : []),
  ];
  left -= above.length;
  const between = waiting.slice(0, Math.max(0, left - LEAST_ROOM));
  left -= between.length;
  const planned = plan(Math.min(Math.floor(rows / PLAN_SHARE), left - LEAST_ROOM));
  left -= planned.length;
  const top = [...above, ...planned, ...between];
  const cursor = input.cursor && { ...input.cursor, row: input.cursor.row + top.length };
  const lines = [...top, ...input.lines, ...below].map((line) => cutToWidth(line, columns));
  return { lines, cursor, room: Math.max(0, left) };
}
