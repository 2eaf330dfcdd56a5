import { type ShownLine, shownCall } from "@banyan/client/words";
import type { Call, Json, Preview } from "@banyan/core/conversation";
import type { Style } from "../../../show/style.ts";
import type { CodePaint } from "../markdown/look.ts";

interface ShownArguments {
  /** Edited arguments, shown in place of the checked ones. */
  readonly input?: Json | undefined;
  readonly preview?: Preview | undefined;
  readonly paint?: CodePaint | undefined;
}

/**
 * Shows a call in full, for the user's decision. No character is hidden or left out (S15, S23). If a command is the
 * only argument of the call, leaves out the argument's label, to save lines on a small screen.
 */
export function callArguments(
  call: Pick<Call, "input" | "executedInput" | "inputText" | "about">,
  style: Style,
  { input = call.executedInput ?? call.input, preview, paint }: ShownArguments = {},
): string[] {
  const all = shownCall(call, { input, preview }).map((line) => ({
    ...line,
    text: line.text.replaceAll("\t", "    "),
  }));
  const [first, ...rest] = all;
  const isCommand = first?.look === "head" && rest.every(({ look }) => look === "command" || look === "confinement");
  // A blank command keeps its label, because its line would look empty.
  const isAlone = isCommand && rest.some(({ look, text }) => look === "command" && text.trim() !== "");
  const lines = isAlone ? rest : all;
  const width = String(lines.reduce((most, { number = 0 }) => Math.max(most, number), 0)).length;
  const code = paint ? inColours(lines, paint) : new Map<ShownLine, string>();
  return lines.map((line) => paintArgumentLine(line, width, style, code.get(line)));
}

/** Lines highlighted by language, if known: each file before and after the change. */
function inColours(lines: readonly ShownLine[], { highlight }: CodePaint): ReadonlyMap<ShownLine, string> {
  const found = new Map<ShownLine, string>();
  const paint = (part: readonly ShownLine[], language: string) => {
    const code = highlight(part.map(({ text }) => text).join("\n"), language);
    if (code?.length === part.length) for (const [index, line] of part.entries()) found.set(line, code[index] ?? "");
  };
  for (const path of new Set(lines.flatMap((line) => line.path ?? []))) {
    const language = /\.([^./]+)$/.exec(path)?.[1] ?? path.split("/").at(-1) ?? "";
    const ofFile = lines.filter((line) => line.path === path);
    paint(
      ofFile.filter(({ look }) => look === "added" || look === "same" || look === "text"),
      language,
    );
  }
  paint(
    lines.filter(({ look }) => look === "command"),
    "bash",
  );
  return found;
}

function paintArgumentLine({ look, text, number }: ShownLine, width: number, style: Style, code = text): string {
  const place = style.dim(String(number ?? "").padStart(width));
  switch (look) {
    case "note":
      return style.warning(text);
    case "head":
      return style.dim(text);
    case "argument":
      return text;
    case "command":
      return code;
    case "text":
      return `${style.dim("│")} ${code}`;
    case "added":
      return code === text ? `${place} ${style.good(`+ ${text}`)}` : `${place} ${style.good("+")} ${code}`;
    case "removed":
      return `${place} ${style.bad(`- ${text}`)}`;
    case "same":
      return `${place}   ${code}`;
    case "gap":
    case "confinement":
      return style.dim(text);
  }
}
