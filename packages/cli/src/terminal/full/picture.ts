import type { WaitingInput } from "@banyan/core";
import type { KeyBindings } from "./keys/key-bindings.ts";
import { bottomOf } from "./layout.ts";
import type { Highlight } from "./markdown/look.ts";
import type { OverlayStack } from "./overlay-stack.ts";
import type { Prompt } from "./prompt/prompt.ts";
import { cut } from "./screen/cells.ts";
import type { Size } from "./screen/live-region.ts";
import type { Picture } from "./screen/screen.ts";
import type { Theme } from "./theme/theme.ts";
import type { LiveView } from "./transcript/live-view.ts";
import type { View } from "./views/overlay.ts";
import { spinnerLine } from "./views/spinner-line.ts";
import { type Status, statusLine } from "./views/status-line.ts";
import { waitingList } from "./views/waiting-list.ts";

/** All that can be seen at the moment. */
export interface Seen {
  readonly theme: Theme;
  readonly keys: KeyBindings;
  readonly view: LiveView;
  readonly prompt: Prompt;
  readonly overlays: OverlayStack;
  /** Said for a moment, in place of the status. */
  readonly hint: string;
  readonly status: Status | undefined;
  readonly inbox: readonly WaitingInput[];
  /** Whether things may move. */
  readonly moves: boolean;
  readonly links: boolean;
  readonly highlight: Highlight | undefined;
}

/** Lines of what waits for the agent. */
const MOST_WAITING = 5;

/** What is drawn next. Takes what is finished from the view, so each picture must be drawn. */
export function pictureOf(seen: Seen, size: Size): Picture {
  const { overlays, theme, view } = seen;
  const spinner = spinnerOf(seen, size.columns);
  if (overlays.top?.isFull) {
    const { lines, cursor } = overlays.top.view({ ...size, rows: size.rows - 1 }, theme, true);
    const behind =
      overlays.behind > 0 ? theme.warning(cut("You are asked something: Esc goes there", size.columns)) : "";
    const below = Array.from({ length: Math.max(0, size.rows - 1 - lines.length) }, () => "");
    return { full: [...lines.slice(0, size.rows - 1), ...below, behind || (spinner ?? "")], cursor };
  }
  const bottom = bottomOf(
    { spinner, waiting: waitingOf(seen, size), input: inputOf(seen, size), status: statusOf(seen, size) },
    size,
  );
  const { finished, open } = view.lines({
    theme,
    width: size.columns,
    room: Math.max(1, bottom.room),
    now: Date.now(),
    links: seen.links,
    highlight: seen.highlight,
    openKey: seen.keys.hint("open-output"),
  });
  const shown = bottom.room === 0 ? [] : open.slice(-bottom.room).map((line) => cut(line, size.columns));
  const cursor = bottom.cursor && { ...bottom.cursor, row: bottom.cursor.row + shown.length };
  return { finished, lines: [...shown, ...bottom.lines], cursor };
}

/** The prompt, or what stands in its place. Until that has the keys, the prompt is below it, for who is typing. */
function inputOf({ overlays, prompt, theme, view, keys }: Seen, size: Size): View {
  const hint = view.isBusy ? `Enter steers, ${keys.hint("send-later") ?? ""} waits for its turn` : "";
  const top = overlays.top?.view(size, theme, overlays.isArmed);
  if (!top) return prompt.view(size, theme, hint);
  if (overlays.isArmed || prompt.isEmpty) return top;
  const { lines, cursor } = prompt.view(size, theme, hint);
  return { lines: [...top.lines, ...lines], cursor: cursor && { ...cursor, row: cursor.row + top.lines.length } };
}

function waitingOf({ inbox, prompt, theme, keys }: Seen, { columns, rows }: Size): string[] {
  const most = Math.min(MOST_WAITING, Math.max(1, Math.floor(rows / 5)));
  const kept = prompt.kept.map((text) => theme.accent("next: ") + text.replaceAll(/\s+/g, " "));
  return [...waitingList(inbox, most, columns, theme, keys.hint("take-back")), ...kept.slice(0, most)];
}

function spinnerOf({ view, moves, theme, keys }: Seen, columns: number): string | undefined {
  const { doing } = view;
  if (!doing) return undefined;
  const elapsed = Date.now() - doing.since;
  return spinnerLine(
    { what: doing.what, elapsed, stopKey: keys.hint("interrupt") },
    moves && !doing.isWaiting,
    columns,
    theme,
  );
}

function statusOf({ hint, status, theme }: Seen, { columns }: Size): string {
  if (hint !== "") return theme.warning(cut(hint, columns));
  return status ? statusLine(status, columns, theme) : "";
}
