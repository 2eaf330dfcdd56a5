import { type Call, type FileChange, isEnded } from "@banyan/core/conversation";
import { counted, cutToEnd, formatTook } from "@banyan/core/shown";
import { callDetails, callEnd, callHead, callWord, FOR_YOU } from "../../../show/call-line.ts";
import { changeHead, diffLines, draftLines } from "../../../show/diff-lines.ts";
import { plainText } from "../../../show/plain-text.ts";
import { bare, cut, widthOf } from "../screen/cells.ts";
import type { Theme } from "../theme/theme.ts";

/** Lines of output or of a change that stand below a call (T24). */
const MOST_LINES = 10;
/** Lines of it while the call runs, or the model writes the change. */
const MOST_LIVE_LINES = 5;

const INDENT = "    ";

/** What is needed to show a call. */
export interface CallLook {
  readonly theme: Theme;
  readonly width: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Opens what was cut, in a hint. */
  readonly openKey?: string | undefined;
  /** It asks a person something, and waits for that. */
  readonly asks?: boolean;
}

/**
 * A call: one line that says what it is and how it stands, and below it what came of it: the change of a file, the output of
 * a command, the last lines of what failed. More than 10 lines are cut.
 */
export function callLines(call: Call, look: CallLook): string[] {
  return isEnded(call.status) ? endedLines(call, look) : liveLines(call, look);
}

function endedLines(call: Call, look: CallLook): string[] {
  const { theme, width } = look;
  const failed = callDetails(call, theme, width, look.openKey);
  const lines = [headLine(call, callEnd(call, theme), look), ...changed(call, look)];
  if (failed.length > 0) return [...lines, ...failed];
  return call.about?.command !== undefined ? [...lines, ...output(call.output ?? "", look)] : lines;
}

function liveLines(call: Call, look: CallLook): string[] {
  const { theme, width, now, asks = false } = look;
  const isWaiting = asks || call.status === "approval-requested";
  // How long a person takes is no measure of a call.
  const elapsed = isWaiting || call.startedAt === undefined ? "" : theme.dim(formatTook(now - call.startedAt));
  const word = isWaiting ? theme.warning(FOR_YOU) : theme.accent(callWord(call));
  const tail =
    call.progress === ""
      ? []
      : plainText(cutToEnd(call.progress, 20_000)).trimEnd().split("\n").slice(-MOST_LIVE_LINES);
  return [
    headLine(call, word + elapsed, look),
    ...changed(call, look),
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
  const head = cut(callHead(call, theme, Math.max(width, 64)), Math.max(12, width - widthOf(end) - 3));
  return `${head}${bare(head).endsWith("…") ? " " : " … "}${end}`;
}

function changed({ changes = [] }: Call, look: CallLook): string[] {
  const inner = { ...look, width: look.width - INDENT.length };
  return changes.flatMap((change) => indented(changeLines(change, inner), look.width));
}

/** A file that was changed: what became of it, and the change, cut as the output of a call is. */
export function changeLines(change: FileChange, { theme, width, openKey }: CallLook): string[] {
  const lines = diffLines(change.diff, { style: theme });
  return [changeHead(change, theme), ...cutTo(lines, theme, openKey)].map((line) => cut(line, width));
}

function output(text: string, { theme, width, openKey }: CallLook): string[] {
  // What the model is told in place of nothing is nothing to a person.
  if (text.trim() === "" || text === "[no output]") return [];
  const lines = plainText(text.trimEnd()).replaceAll("\t", "    ").split("\n");
  return indented(
    cutTo(
      lines.map((line) => theme.dim(line)),
      theme,
      openKey,
    ),
    width,
  );
}

/** The first lines, as many as stand below a call, and what opens the others. */
export function cutTo(lines: readonly string[], theme: Theme, openKey: string | undefined): readonly string[] {
  const more = lines.length - MOST_LINES;
  // A line that says that one line is missing is no gain.
  if (more <= 1) return lines;
  const hint = openKey === undefined ? "" : `; ${openKey} shows all`;
  return [...lines.slice(0, MOST_LINES), theme.dim(`… (${counted(more, "more line")}${hint})`)];
}

function indented(lines: readonly string[], width: number): string[] {
  return lines.map((line) => INDENT + cut(line, Math.max(8, width - INDENT.length)));
}
