import { cut } from "./screen/cells.ts";
import type { Position, Size } from "./screen/live-region.ts";
import type { View } from "./views/overlay.ts";

/** What stands at the bottom of the screen, from top to bottom. */
export interface Parts {
  /** What goes on. */
  readonly spinner: string | undefined;
  /** What the agent has planned, on at most so many lines. */
  plan(most: number): readonly string[];
  /** What waits for the agent. */
  readonly waiting: readonly string[];
  /** The prompt, or what stands in its place. */
  readonly input: View;
  readonly status: string;
}

/** The parts together, and how many lines above them are free for what is still open. */
export interface Bottom {
  readonly lines: readonly string[];
  readonly cursor: Position | undefined;
  readonly room: number;
}

/** Rows from which on there is a place for the status. */
export const STATUS_FROM = 8;
/** Rows from which on an empty line sets the bottom apart from the transcript. */
const APART_FROM = 16;
/** Lines of the transcript that stay free, where there are enough rows. */
const LEAST_ROOM = 2;

/** The part of the rows that a plan may take: one in so many. */
const PLAN_SHARE = 5;

/** Puts the parts below each other. Where there is little room, what can be missed best is left out first (T26). */
export function bottomOf({ spinner, plan, waiting, input, status }: Parts, { columns, rows }: Size): Bottom {
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
  const lines = [...top, ...input.lines, ...below].map((line) => cut(line, columns));
  return { lines, cursor, room: Math.max(0, left) };
}
