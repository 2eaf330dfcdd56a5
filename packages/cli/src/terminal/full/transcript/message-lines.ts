import {
  type ConversationState,
  type Message,
  pathTo,
  textOf,
  toldShortfall,
  toldUnreadable,
  typedText,
} from "@banyan/core/conversation";
import { counted, visibleProse } from "@banyan/core/shown";
import { attachedLine, attachedTo } from "../../../show/attached.ts";
import { undoneLine } from "../../../show/message-label.ts";
import { oneLine, plainText } from "../../../show/plain-text.ts";
import { markdownLines } from "../markdown/markdown-stream.ts";
import { wrapped } from "../screen/cells.ts";
import type { Theme } from "../theme/theme.ts";
import { callLines, cutTo } from "../views/call-view.ts";
import type { Page } from "../views/viewer.ts";

/** Lines of a person's message that are shown; of a longer one the first and the last. */
const MOST_LINES = 40;

/** What a person said, as it stands in the transcript. */
export function messageLines(text: string, width: number, theme: Theme): string[] {
  const lines = visibleProse(text).replaceAll("\t", "    ").split("\n");
  const hidden = lines.length - MOST_LINES;
  const half = MOST_LINES / 2;
  const shown =
    hidden > 1 ? [...lines.slice(0, half), theme.dim(`… (${hidden} more lines)`), ...lines.slice(-half)] : lines;
  return shown
    .flatMap((line) => wrapped(line, Math.max(1, width - 2)))
    .map((line, index) => `${index === 0 ? theme.accent("❯") : " "} ${theme.bold(line)}`.trimEnd());
}

const INDENT = "    ";

/** What a tool or the system has told the model: each of its lines whole, those behind the first one set in. */
export function toldLines(author: string, text: string, width: number, theme: Theme): string[] {
  const [first = "", ...more] = plainText(text.trim()).replaceAll("\t", INDENT).split("\n");
  return [
    ...wrapped(theme.dim(`${author}: ${first}`), width),
    ...more.flatMap((line) => wrapped(theme.dim(line), width - INDENT.length).map((part) => INDENT + part)),
  ];
}

/**
 * A branch as a page, as it is at the moment: what was said and called, from the root to a leaf. `leaf` returns where it
 * ends now, so that a branch that grows can be followed (T30).
 */
export function pathPage(title: string, state: ConversationState, leaf: () => string | null): Page {
  // A message that is complete looks the same every time.
  const known = new Map<string, { readonly width: number; readonly theme: Theme; readonly lines: readonly string[] }>();
  return {
    title,
    lines: (width, theme) =>
      pathTo(state, leaf()).flatMap((message, index) => {
        const kept = known.get(message.id);
        const isKept = kept?.width === width && kept.theme === theme;
        const lines = isKept ? kept.lines : linesOf(message, width, theme);
        if (isSettled(message)) known.set(message.id, { width, theme, lines });
        return index === 0 ? lines : ["", ...lines];
      }),
  };
}

/** The end of a branch, as it stands in the transcript. */
export interface BranchEnd {
  readonly lines: readonly string[];
  /** How many messages of the branch are not in them, not even in part. */
  readonly above: number;
}

/** The last lines of a branch, calls and changes with them: no more than `most`, of a long message its own last ones. */
export function branchEnd(
  state: ConversationState,
  leaf: string | null,
  { width, theme, most }: { readonly width: number; readonly theme: Theme; readonly most: number },
): BranchEnd {
  const path = pathTo(state, leaf);
  let lines: readonly string[] = [];
  let above = path.length;
  // From the end, so that a long branch takes no longer than a short one.
  while (above > 0 && lines.length < most) {
    const message = path[--above];
    const of = message ? linesOf(message, width, theme) : [];
    lines = lines.length === 0 ? of : [...of, "", ...lines];
  }
  const hidden = lines.length - most;
  if (hidden <= 1) return { lines, above };
  return { lines: [theme.dim(`… (${counted(hidden, "line")} above)`), ...lines.slice(hidden)], above };
}

function linesOf(message: Message, width: number, theme: Theme): readonly string[] {
  const unreadable = toldUnreadable(message);
  if (unreadable !== undefined) return wrapped(theme.dim(oneLine(unreadable)), width);
  if (message.role === "summary") return toldLines("summary", textOf(message), width, theme);
  if (message.role === "user") {
    const undone = undoneLine(message);
    if (undone !== undefined) return wrapped(theme.dim(undone), width);
    if (message.author === "system")
      return cutTo(toldLines(message.author, textOf(message), width, theme), theme, undefined);
    const attached = attachedLine(attachedTo(message.parts)).flatMap((line) => wrapped(theme.dim(line), width));
    return [...messageLines(typedText(message), width, theme), ...attached];
  }
  const text = plainText(textOf(message)).trim();
  const said = markdownLines(text, width, { theme, links: false });
  const calls = message.calls.flatMap((call) => callLines(call, { theme, width, now: Date.now() }));
  const shortfall = toldShortfall(message);
  return [...said, ...calls, ...(shortfall === undefined ? [] : wrapped(theme.dim(oneLine(shortfall)), width))];
}

function isSettled(message: Message): boolean {
  if (message.role !== "assistant") return true;
  return message.finish !== undefined && message.calls.every(({ endedAt }) => endedAt !== undefined);
}
