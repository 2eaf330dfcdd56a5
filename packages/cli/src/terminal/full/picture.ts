import type { PlanStep, WaitingInput } from "@banyan/core/conversation";
import { counted, planHeadline } from "@banyan/core/shown";
import { planStepLines } from "../../show/call-line.ts";
import { waitingText, waitingWord } from "../../show/message-label.ts";
import type { KeyBindings } from "./keys/key-bindings.ts";
import { layOutBottom, STATUS_FROM } from "./layout.ts";
import type { Highlight } from "./markdown/highlighter.ts";
import { hintLine, keyHint, longestThatFits, padLines } from "./overlay/drawn-lines.ts";
import type { Overlay, OverlayView } from "./overlay/overlay.ts";
import type { OverlayStack } from "./overlay-stack.ts";
import type { PromptBox } from "./prompt/prompt.ts";
import { cutToWidth, paintedAt, textWidth } from "./screen/cells.ts";
import type { ScreenSize } from "./screen/live-region.ts";
import type { Picture } from "./screen/screen.ts";
import type { Theme } from "./theme/theme.ts";
import type { LiveView } from "./transcript/live-view.ts";
import { spinnerLine } from "./views/spinner-line.ts";
import { type Status, statusLine } from "./views/status-line.ts";

export interface PictureParts {
  readonly theme: Theme;
  readonly keys: KeyBindings;
  readonly view: LiveView;
  readonly prompt: PromptBox;
  readonly overlays: OverlayStack;
  /** True if keys belong to the question at the top instead of the prompt (T64). */
  readonly isAnswering: boolean;
  /** True if the cursor waits at the top of the live region, while a painted cursor marks its place. */
  readonly cursorWaits: boolean;
  /** A brief notice in place of the status. */
  readonly hint: string;
  readonly status: Status | undefined;
  readonly inbox: readonly WaitingInput[];
  readonly moves: boolean;
  readonly links: boolean;
  readonly highlight: Highlight | undefined;
}

const LEAST_PAGE = 4;
const MOST_WAITING = 5;

/** Composes the next frame. The caller must draw each frame, because the next frame leaves out finished lines. */
export function nextPicture(seen: PictureParts, size: ScreenSize): Picture {
  const { overlays, theme, view } = seen;
  const spinner = spinnerOf(seen, size.columns);
  if (overlays.page) return fullScreen(seen, overlays.page, spinner ?? "", size);
  const bottom = layOutBottom(
    {
      spinner,
      // A question gets more room than the plan.
      plan: (most) => planLines(seen.status?.plan ?? [], isAsked(seen) ? Math.min(1, most) : most, size.columns, theme),
      waiting: waitingOf(seen, size),
      input: inputView(seen, size),
      status: statusText(seen, size),
    },
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
  const shown = bottom.room === 0 ? [] : open.slice(-bottom.room).map((line) => cutToWidth(line, size.columns));
  const cursor = bottom.cursor && { ...bottom.cursor, row: bottom.cursor.row + shown.length };
  const lines = [...shown, ...bottom.lines];
  if (!seen.cursorWaits) return { finished, lines, cursor };
  return {
    finished,
    lines: cursor ? lines.with(cursor.row, paintedAt(lines[cursor.row] ?? "", cursor.column, theme.selected)) : lines,
    waitsAtTop: true,
  };
}

/** A page on the whole screen, with a question below it, or a notice that a question waits. */
function fullScreen(seen: PictureParts, page: Overlay<unknown>, spinner: string, size: ScreenSize) {
  const { overlays, theme, keys } = seen;
  const rows = size.rows - 1;
  const { columns } = size;
  const { top } = overlays;
  const question = top === page ? undefined : top;
  const card = question && questionView(seen, question, { columns, rows: Math.max(1, rows - LEAST_PAGE) });
  const room = Math.max(1, rows - (card?.lines.length ?? 0));
  const { lines, cursor } = questionView(seen, page, { columns, rows: room });
  const isBehind = !question && overlays.behind > 0;
  const last = isBehind
    ? theme.warning(
        cutToWidth(`A question is waiting${keyHint(keys, "list-cancel", "shows it").replace(/^(?=.)/, ": ")}`, columns),
      )
    : spinner;
  const below = card?.cursor && { ...card.cursor, row: card.cursor.row + room };
  return {
    full: [...[...padLines(lines.slice(0, room), room), ...(card?.lines ?? [])].slice(0, rows), last],
    cursor: question ? below : cursor,
  };
}

/** The prompt, or the overlay in its place. */
function inputView(seen: PictureParts, size: ScreenSize): OverlayView {
  const { overlays, prompt, theme, view, keys } = seen;
  const hint = view.isBusy ? `Enter: send now. ${keys.hint("send-later") ?? ""}: after this turn` : "";
  if (!overlays.top) return prompt.view(size, theme, hint);
  const kept = overlays.top.footer && size.rows >= STATUS_FROM ? 2 : 1;
  return questionView(seen, overlays.top, { ...size, rows: Math.max(1, size.rows - kept) });
}

/** An overlay. If it is a question and the prompt holds text, the prompt stays below it (T64). */
function questionView(seen: PictureParts, overlay: Overlay<unknown>, size: ScreenSize): OverlayView {
  const { overlays, prompt, theme, keys, isAnswering } = seen;
  if (!overlay.mark || overlay !== overlays.top || prompt.isEmpty)
    return overlay.view(size, theme, overlay !== overlays.top || overlays.isArmed, keys);
  const below = prompt.view(size, theme, isAnswering ? "" : keyHint(keys, "complete", "moves to the question"));
  const rows = Math.max(1, size.rows - below.lines.length);
  const { lines, cursor } = overlay.view({ ...size, rows }, theme, isAnswering, keys);
  const above = overlay.isFull ? padLines(lines, rows) : lines.slice(0, rows);
  return {
    lines: [...above, ...below.lines],
    cursor: isAnswering ? cursor : below.cursor && { ...below.cursor, row: below.cursor.row + above.length },
  };
}

function waitingOf({ inbox, prompt, theme, keys }: PictureParts, { columns, rows }: ScreenSize): string[] {
  const most = Math.min(MOST_WAITING, Math.max(1, Math.floor(rows / 5)));
  const kept = prompt.kept.map((text) => theme.accent("next: ") + text.replaceAll(/\s+/g, " "));
  return [...waitingList(inbox, most, columns, theme, keys.hint("take-back")), ...kept.slice(0, most)];
}

function isAsked({ overlays }: PictureParts): boolean {
  return overlays.top !== undefined && overlays.top !== overlays.page;
}

function spinnerOf(seen: PictureParts, columns: number): string | undefined {
  const { view, moves, theme, keys, overlays } = seen;
  const { doing } = view;
  // A visible question already shows that the agent waits.
  if (!doing || (doing.isWaiting && isAsked(seen))) return undefined;
  const elapsed = Date.now() - doing.since;
  return spinnerLine(
    {
      what: doing.what,
      elapsed,
      until: doing.until === undefined ? undefined : doing.until - Date.now(),
      // While a page is open, the key closes the page.
      stopKey: overlays.page ? undefined : keys.hint("interrupt"),
      agentsKey: doing.agents > 0 && !overlays.page ? keys.hint("agents") : undefined,
    },
    moves && !doing.isWaiting,
    columns,
    theme,
  );
}

function statusText({ hint, status, theme, overlays, keys }: PictureParts, { columns }: ScreenSize): string {
  if (hint !== "") return theme.warning(cutToWidth(hint, columns));
  const does = hintLine(overlays.top?.footer?.(keys) ?? [], columns);
  if (does !== "") return theme.dim(does);
  return status ? statusLine(status, columns, theme) : "";
}

/**
 * Lists the user's queued messages, one line each: first those for this turn, then those for later (T18). If there are
 * more than `most`, shows only the first ones.
 */
export function waitingList(
  inbox: readonly WaitingInput[],
  most: number,
  width: number,
  theme: Theme,
  takeBackKey?: string,
): string[] {
  if (inbox.length === 0 || most <= 0) return [];
  const steers = inbox.filter(({ delivery, held }) => delivery !== "queue" && !held);
  const sorted = [...steers, ...inbox.filter((input) => !steers.includes(input))];
  const shown = sorted.slice(0, sorted.length > most ? Math.max(1, most - 1) : most);
  const lines = shown.map((input) => {
    const word = `${waitingWord(input)}: `;
    return theme.accent(word) + waitingText(input, Math.max(8, width - textWidth(word)));
  });
  const hint = takeBackKey === undefined ? "" : `${takeBackKey} takes back the last message`;
  if (shown.length < sorted.length) {
    const more = `… and ${counted(sorted.length - shown.length, "more message")}`;
    return [...lines, theme.dim(longestThatFits([...(hint === "" ? [] : [`${more}; ${hint}`]), more], width))];
  }
  const last = lines.length - 1;
  const room = width - textWidth(lines[last] ?? "") - textWidth(hint) - 3;
  return room < 0 || hint === "" ? lines : lines.with(last, `${lines[last]}   ${theme.dim(hint)}`);
}

const STEPS = 5;
/** Minimum steps; with fewer, the plan takes one line. */
const LEAST_STEPS = 3;
const STEPS_FROM = 60;

/**
 * Shows an unfinished plan on at most `most` lines (T57): the number of completed steps, and the current step with its
 * neighbours. A small screen shows one line. A completed plan is empty.
 */
export function planLines(plan: readonly PlanStep[], most: number, width: number, theme: Theme): string[] {
  const open = plan.findIndex(({ status }) => status !== "completed");
  if (open < 0 || most < 1) return [];
  const count = Math.min(plan.length, most - 1, STEPS);
  if (width < STEPS_FROM || count < Math.min(LEAST_STEPS, plan.length))
    return [cutToWidth(theme.dim(`Plan: ${planHeadline(plan)}`), width)];
  const current = plan.findIndex(({ status }) => status === "in_progress");
  const first = Math.max(0, Math.min((current < 0 ? open : current) - 1, plan.length - count));
  const done = plan.filter(({ status }) => status === "completed").length;
  const more = count < plan.length ? "; /plan shows all" : "";
  return [
    theme.dim(`Plan: ${done} of ${plan.length} done${more}`),
    ...planStepLines(plan.slice(first, first + count), theme, width),
  ];
}
