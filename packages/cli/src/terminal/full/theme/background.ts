import { parseOsc11BackgroundColor } from "@earendil-works/pi-tui";
import type { Scheme } from "./palette.ts";

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
