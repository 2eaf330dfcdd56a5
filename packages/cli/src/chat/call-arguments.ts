import type { Call, Json, Preview } from "@banyan/core/conversation";
import { type ShownLine, shownCall } from "@banyan/core/shown";
import type { Style } from "../show/style.ts";

/** What a person sees of a call beside its arguments, or in their place. */
interface Shown {
  /** In the place of those that were checked. */
  readonly input?: Json | undefined;
  readonly preview?: Preview | undefined;
}

/** All of a call that a person is to judge, as lines. Nothing of it hides on a terminal, and nothing is left out (S15, S23). */
export function callArguments(
  call: Pick<Call, "input" | "executedInput" | "inputText" | "about">,
  style: Style,
  { input = call.executedInput ?? call.input, preview }: Shown = {},
): string[] {
  const lines = shownCall(call, { input, preview });
  const width = String(lines.reduce((most, { number = 0 }) => Math.max(most, number), 0)).length;
  return lines.map((line) => painted({ ...line, text: line.text.replaceAll("\t", "    ") }, width, style));
}

function painted({ look, text, number }: ShownLine, width: number, style: Style): string {
  const place = style.dim(String(number ?? "").padStart(width));
  switch (look) {
    case "note":
      return style.warning(text);
    case "head":
      return style.dim(text);
    case "argument":
    case "command":
      return text;
    case "text":
      return `${style.dim("│")} ${text}`;
    case "added":
      return `${place} ${style.good(`+ ${text}`)}`;
    case "removed":
      return `${place} ${style.bad(`- ${text}`)}`;
    case "same":
      return `${place}   ${text}`;
    case "gap":
      return style.dim(text);
  }
}
