import { formatTook } from "@banyan/client/words";
import { type Call, type FileChange, isEnded } from "@banyan/core/conversation";
import { counted, cutToEnd } from "@banyan/core/shown";
import { callDetails, callEndText, callHead, callWord, FOR_YOU } from "../../../show/call-line.ts";
import { changeHead, diffLines, draftLines } from "../../../show/diff-lines.ts";
import { plainText } from "../../../show/plain-text.ts";
import { cutToWidth, textWidth, withoutColors } from "../screen/cells.ts";
import type { Theme } from "../theme/theme.ts";

/** Maximum lines of a change below a call, and of a tool's message to the model (T24). */
const MOST_LINES = 10;
/** Maximum lines while the call runs, or the model writes the change. */
const MOST_LIVE_LINES = 5;

const INDENT = "    ";

export interface CallLook {
  readonly theme: Theme;
  readonly width: number;
  readonly now: number;
  /** Key that opens cut text, for a hint. */
  readonly openKey?: string | undefined;
  /** True if the call waits for an answer of the user. */
  readonly asks?: boolean;
}

/**
 * Shows a call as lines: its name and state, then its effects: file changes, the last line of a command's output, or the
 * end of a failure.
 */
export function callLines(call: Call, look: CallLook): string[] {
  return isEnded(call.status) ? endedLines(call, look) : liveLines(call, look);
}

function endedLines(call: Call, look: CallLook): string[] {
  const { theme, width, openKey } = look;
  const lines = [
    headLine(call, callEndText(call, theme) + shownChanges(call, theme), look),
    ...callChangeLines(call, look),
  ];
  // The steps of a plan are above the prompt.
  if (call.about?.plan && call.status === "completed") return lines;
  const details = callDetails(call, theme, width, openKey);
  if (details.length > 0) return [...lines, ...details];
  return call.about?.command !== undefined ? [...lines, ...lastOutputLine(call.output ?? "", look)] : lines;
}

function liveLines(call: Call, look: CallLook): string[] {
  const { theme, width, now, asks = false } = look;
  const isWaiting = asks || call.status === "approval-requested";
  // Time spent waiting for the user says nothing about the call.
  const elapsed = isWaiting || call.startedAt === undefined ? "" : theme.dim(formatTook(now - call.startedAt));
  const word = isWaiting ? theme.warning(FOR_YOU) : theme.accent(callWord(call));
  const tail =
    call.progress === ""
      ? []
      : plainText(cutToEnd(call.progress, 20_000)).trimEnd().split("\n").slice(-MOST_LIVE_LINES);
  return [
    headLine(call, word + elapsed, look),
    ...callChangeLines(call, look),
    ...(call.drafts ?? []).flatMap((draft) =>
      indented(draftLines(draft, { style: theme, most: MOST_LIVE_LINES }), width),
    ),
    ...indented(
      tail.map((line) => theme.dim(line.replaceAll("\t", "    "))),
      width,
    ),
  ];
}

function headLine(call: Call, end: string, { theme, width }: CallLook): string {
  const head = cutToWidth(callHead(call, theme, Math.max(width, 64)), Math.max(12, width - textWidth(end) - 3));
  return `${head}${withoutColors(head).endsWith("…") ? " " : " … "}${end}`;
}

/** True if a question showed the changes of a call to a user who allowed them (T68). */
function hasShownChanges({ about, approved, executedInput }: Call): boolean {
  return about?.change !== undefined && approved === true && executedInput === undefined;
}

/** Counts the lines of changes that a question has shown, such as `, +2 -1`. */
function shownChanges(call: Call, theme: Theme): string {
  const { changes = [] } = call;
  if (changes.length === 0 || !hasShownChanges(call)) return "";
  const sum = (of: "added" | "removed") => changes.reduce((count, change) => count + change[of], 0);
  return theme.dim(`, +${sum("added")} -${sum("removed")}`);
}

function callChangeLines(call: Call, look: CallLook): string[] {
  if (hasShownChanges(call)) return [];
  const inner = { ...look, width: look.width - INDENT.length };
  return (call.changes ?? []).flatMap((change) => indented(fileChangeLines(change, inner), look.width));
}

/** Shows a changed file with its diff, cut like a call's output. */
export function fileChangeLines(change: FileChange, { theme, width, openKey }: CallLook): string[] {
  const lines = diffLines(change.diff, { style: theme });
  return [changeHead(change, theme), ...cutOutputLines(lines, theme, openKey)].map((line) => cutToWidth(line, width));
}

/** Shows the last line of a command's output, and the number of lines above with the key that shows them. */
function lastOutputLine(text: string, { theme, width, openKey }: CallLook): string[] {
  // The placeholder for empty output is for the model only.
  if (text.trim() === "" || text === "[no output]") return [];
  const lines = plainText(text.trimEnd()).replaceAll("\t", "    ").split("\n");
  const more = lines.length - 1;
  const key = openKey === undefined ? "" : `; ${openKey} shows all`;
  const hint = more === 0 ? "" : ` (${counted(more, "more line")}${key})`;
  const last = cutToWidth((lines.at(-1) ?? "").trimEnd(), Math.max(8, width - INDENT.length - textWidth(hint)));
  return indented([theme.dim(last + hint)], width);
}

/** Returns the first lines that fit below a call, and a hint about the key that shows the rest. */
export function cutOutputLines(lines: readonly string[], theme: Theme, openKey: string | undefined): readonly string[] {
  const more = lines.length - MOST_LINES;
  // Replacing a single line by a hint saves nothing.
  if (more <= 1) return lines;
  const hint = openKey === undefined ? "" : `; ${openKey} shows all`;
  return [...lines.slice(0, MOST_LINES), theme.dim(`… (${counted(more, "more line")}${hint})`)];
}

function indented(lines: readonly string[], width: number): string[] {
  return lines.map((line) => INDENT + cutToWidth(line, Math.max(8, width - INDENT.length)));
}
