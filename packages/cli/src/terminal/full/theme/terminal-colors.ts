import { WriteStream } from "node:tty";
import { parseOsc11BackgroundColor } from "@earendil-works/pi-tui/dist/terminal-colors.js";
import type { ColorChoice } from "../../../arguments.ts";
import type { Scheme } from "./palette.ts";

/** Bits of colour: none, 16 colours, 256, or all of them. */
export type ColorDepth = 1 | 4 | 8 | 24;

/**
 * How many colours a terminal is to be sent. `--color` counts most, then `FORCE_COLOR`, then a `NO_COLOR` that is not
 * empty, then what the terminal says of itself in `TERM` and `COLORTERM` (T38).
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
 * GNU screen takes true colours for faint and blinking, whatever the terminal around it can: only its own name counts, also
 * where tmux is around it, or in it.
 */
function inScreen({ COLORTERM: _, TMUX: __, TERM = "", ...env }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, TERM: TERM.endsWith("-256color") ? "xterm-256color" : TERM };
}

/** Asks a terminal for the colour of its background; one that knows the question answers with `OSC 11 ; rgb:... ST`. */
export const ASK_BACKGROUND = "\x1b]11;?\x07";

/** What `COLORFGBG` says (`15;0`: the colours of text and background among the 16); nothing when it says nothing. */
export function schemeFrom(env: NodeJS.ProcessEnv): Scheme | undefined {
  const [, digits] = /;(\d+)$/.exec(env.COLORFGBG ?? "") ?? [];
  if (digits === undefined) return undefined;
  const background = Number(digits);
  return background === 7 || background > 8 ? "light" : "dark";
}

/** What a terminal's answer to `ASK_BACKGROUND` means; nothing when the text is no such answer. */
export function schemeOfReply(reply: string): Scheme | undefined {
  const color = parseOsc11BackgroundColor(reply);
  if (!color) return undefined;
  // How bright the eye sees each channel (ITU-R BT.601).
  return 0.299 * color.r + 0.587 * color.g + 0.114 * color.b > 127 ? "light" : "dark";
}
