import { describeShortfall } from "@banyan/client/words";
import {
  type ConversationState,
  describeUnreadable,
  type Message,
  pathTo,
  textOf,
  typedText,
} from "@banyan/core/conversation";
import { counted, visibleProse } from "@banyan/core/shown";
import { attachedLine, attachmentsOfMessage } from "../../../show/attachment-lines.ts";
import { problemLines } from "../../../show/call-line.ts";
import { modelNotice, shortenedLine, undoneLine } from "../../../show/message-label.ts";
import { plainLine, plainText } from "../../../show/plain-text.ts";
import { markdownLines } from "../markdown/markdown-stream.ts";
import { callLines, cutOutputLines } from "../overlay/call-view.ts";
import type { ViewerPage } from "../overlay/overlay.ts";
import { wrapCells } from "../screen/cells.ts";
import type { Theme } from "../theme/theme.ts";
import { type BlockAuthor, TextBlock, type TranscriptBlock } from "./block.ts";
import { CallBlock } from "./call-block.ts";
import { Transcript } from "./transcript.ts";

/** Maximum lines of a user's message. A longer message shows its beginning and end. */
const MOST_LINES = 40;

export function messageLines(text: string, width: number, theme: Theme): string[] {
  const lines = visibleProse(text).replaceAll("\t", "    ").split("\n");
  const hidden = lines.length - MOST_LINES;
  const half = MOST_LINES / 2;
  const shown =
    hidden > 1 ? [...lines.slice(0, half), theme.dim(`… (${hidden} more lines)`), ...lines.slice(-half)] : lines;
  return shown
    .flatMap((line) => wrapCells(line, Math.max(1, width - 2)))
    .map((line, index) => `${index === 0 ? theme.accent("❯") : " "} ${theme.bold(line)}`.trimEnd());
}

const INDENT = "    ";

/** Formats text from a tool or the system to the model, in full. Lines after the first are indented. */
export function modelNoticeBlock(author: string, text: string, width: number, theme: Theme): string[] {
  const [first = "", ...more] = plainText(text.trim()).replaceAll("\t", INDENT).split("\n");
  return [
    ...wrapCells(theme.dim(`${author}: ${first}`), width),
    ...more.flatMap((line) => wrapCells(theme.dim(line), width - INDENT.length).map((part) => INDENT + part)),
  ];
}

/**
 * Returns a page that shows a branch. `leaf` returns the current end, so that the page follows a growing branch (T30).
 */
export function branchPage(title: string, state: ConversationState, leaf: () => string | null): ViewerPage {
  // The lines of a complete message never change.
  const known = new Map<string, { readonly width: number; readonly theme: Theme; readonly lines: readonly string[] }>();
  return {
    title,
    lines: (width, theme) =>
      pathTo(state, leaf()).flatMap((message, index) => {
        const kept = known.get(message.id);
        const isKept = kept?.width === width && kept.theme === theme;
        const lines = isKept ? kept.lines : transcriptLines(message, width, theme);
        if (isDrawnWhole(message)) known.set(message.id, { width, theme, lines });
        return index === 0 ? lines : ["", ...lines];
      }),
  };
}

export interface BranchEnd {
  readonly lines: readonly string[];
  /** Number of messages that are not shown at all. */
  readonly above: number;
}

/**
 * Returns the last lines of a branch, at most `most`, as the transcript showed them. A long message is cut at its
 * beginning.
 */
export function branchEnd(
  state: ConversationState,
  leaf: string | null,
  { width, theme, most }: { readonly width: number; readonly theme: Theme; readonly most: number },
): BranchEnd {
  const path = pathTo(state, leaf);
  let above = path.length;
  // From the end, so that the length of the branch does not matter.
  for (let count = 0; above > 0 && count < most; ) {
    const message = path[--above];
    count += message ? transcriptLines(message, width, theme).length + 1 : 0;
  }
  const transcript = new Transcript();
  for (const message of path.slice(above)) for (const block of messageBlocks(message)) transcript.add(block);
  const { finished, open } = transcript.show({ theme, width, room: most, now: Date.now(), links: false });
  const lines = [...finished, ...open];
  const hidden = lines.length - most;
  if (hidden <= 1) return { lines, above };
  return { lines: [theme.dim(`… (${counted(hidden, "line")} above)`), ...lines.slice(hidden)], above };
}

/** The blocks of a message. Each call is a block of its own, so that neighbours fold (T68). */
function messageBlocks(message: Message): TranscriptBlock[] {
  const lines = (of: typeof transcriptLines, author: BlockAuthor) =>
    new TextBlock(({ width, theme }) => of(message, width, theme), author);
  if (message.role !== "assistant" || describeUnreadable(message) !== undefined) {
    const isAsked = message.role === "user" && (message.author === "user" || message.parentId === null);
    return [lines(transcriptLines, isAsked ? "user" : "program")];
  }
  return [
    ...(textOf(message).trim() === "" ? [] : [lines(answerLines, "agent")]),
    ...message.calls.map((call) => new CallBlock(call)),
    ...(describeShortfall(message) === undefined ? [] : [lines(shortfallLines, "program")]),
  ];
}

function transcriptLines(message: Message, width: number, theme: Theme): readonly string[] {
  const unreadable = describeUnreadable(message);
  if (unreadable !== undefined) return wrapCells(theme.dim(plainLine(unreadable)), width);
  const shortened = shortenedLine(message);
  if (shortened !== undefined) return wrapCells(theme.dim(shortened), width);
  if (message.role === "summary") return modelNoticeBlock("summary", textOf(message), width, theme);
  if (message.role === "user") {
    const undone = undoneLine(message);
    if (undone !== undefined) return wrapCells(theme.dim(undone), width);
    // The task of a sub-agent is also a message of a tool, and looks like a user's message.
    if (message.author === "system" || (message.author === "tool" && message.parentId !== null)) {
      const { text, problems } = modelNotice(message);
      const block = text === "" ? [] : modelNoticeBlock(message.author, text, width, theme);
      return [...cutOutputLines(block, theme, undefined), ...problemLines(problems, theme, width)];
    }
    const attached = attachedLine(attachmentsOfMessage(message.parts)).flatMap((line) =>
      wrapCells(theme.dim(line), width),
    );
    return [...messageLines(typedText(message), width, theme), ...attached];
  }
  const calls = message.calls.flatMap((call) => callLines(call, { theme, width, now: Date.now() }));
  return [...answerLines(message, width, theme), ...calls, ...shortfallLines(message, width, theme)];
}

function answerLines(message: Message, width: number, theme: Theme): readonly string[] {
  return markdownLines(plainText(textOf(message)).trim(), width, { theme, links: false });
}

function shortfallLines(message: Message, width: number, theme: Theme): readonly string[] {
  const shortfall = describeShortfall(message);
  return shortfall === undefined ? [] : wrapCells(theme.dim(plainLine(shortfall)), width);
}

function isDrawnWhole(message: Message): boolean {
  if (message.role !== "assistant") return true;
  return message.finish !== undefined && message.calls.every(({ endedAt }) => endedAt !== undefined);
}
