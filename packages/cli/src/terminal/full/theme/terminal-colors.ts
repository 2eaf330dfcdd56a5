import { WriteStream } from "node:tty";
import { parseOsc11BackgroundColor } from "@earendil-works/pi-tui/dist/terminal-colors.js";
import type { ColorChoice } from "../../../program/prompt-arguments.ts";

/** Scheme of a terminal: light text on dark, or dark text on light. */
export type Scheme = "dark" | "light";

/** Bits per colour: 1 means no colours, 4 means 16 colours, 8 means 256 colours, 24 means true colour. */
export type ColorDepth = 1 | 4 | 8 | 24;

/**
 * Returns the colour depth of a terminal. `--color` has priority, then `FORCE_COLOR`, then a `NO_COLOR` that is not
 * empty, then `TERM` and `COLORTERM` (T38).
 */
export function colorDepth(choice: ColorChoice, env: NodeJS.ProcessEnv): ColorDepth {
  const { NO_COLOR, FORCE_COLOR, ...own } = env.STY === undefined ? env : inScreen(env);
  if (choice === "never") return 1;
  if (choice === "auto" && FORCE_COLOR === undefined && NO_COLOR) return 1;
  const forced = choice === "auto" && FORCE_COLOR !== undefined ? { ...own, FORCE_COLOR } : own;
  const depth = WriteStream.prototype.getColorDepth(forced) as ColorDepth;
  return choice === "always" && depth === 1 ? 4 : depth;
}

/**
 * GNU screen misinterprets true colours as faint and blinking text, whatever the outer terminal supports. Only its own
 * TERM counts, also with tmux around or inside it.
 */
function inScreen({ COLORTERM: _, TMUX: __, TERM = "", ...env }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, TERM: TERM.endsWith("-256color") ? "xterm-256color" : TERM };
}

/** Query for the background colour. Terminals that support this query reply with `OSC 11 ; rgb:... ST`. */
export const ASK_BACKGROUND = "\x1b]11;?\x07";

/** Returns the scheme in `COLORFGBG` (`15;0`: text and background among the 16 colours). Undefined if unset. */
export function schemeFrom(env: NodeJS.ProcessEnv): Scheme | undefined {
  const [, digits] = /;(\d+)$/.exec(env.COLORFGBG ?? "") ?? [];
  if (digits === undefined) return undefined;
  const background = Number(digits);
  return background === 7 || background > 8 ? "light" : "dark";
}

/** Returns the scheme in a terminal's reply to `ASK_BACKGROUND`. Undefined for other text. */
export function schemeOfReply(reply: string): Scheme | undefined {
  const color = parseOsc11BackgroundColor(reply);
  if (!color) return undefined;
  // Perceived brightness of the channels (ITU-R BT.601).
  return 0.299 * color.r + 0.587 * color.g + 0.114 * color.b > 127 ? "light" : "dark";
}
