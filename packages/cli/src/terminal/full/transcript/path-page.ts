import { type ConversationState, type Message, pathTo, textOf } from "@banyan/core/conversation";
import { plainText } from "../../../show/plain-text.ts";
import { markdownLines } from "../markdown/markdown-lines.ts";
import type { Theme } from "../theme/theme.ts";
import { callLines } from "../views/call-view.ts";
import type { Page } from "../views/viewer.ts";
import { messageLines } from "./message-lines.ts";

/**
 * A branch as a page, as it is at the moment: what was said and called, from the root to a leaf. `leaf` answers where it
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

function linesOf(message: Message, width: number, theme: Theme): string[] {
  const text = plainText(textOf(message)).trim();
  if (message.role !== "assistant") return messageLines(text, width, theme);
  const said = markdownLines(text, width, { theme, links: false });
  return [...said, ...message.calls.flatMap((call) => callLines(call, { theme, width, now: Date.now() }))];
}

function isSettled(message: Message): boolean {
  if (message.role !== "assistant") return true;
  return message.finish !== undefined && message.calls.every(({ endedAt }) => endedAt !== undefined);
}
