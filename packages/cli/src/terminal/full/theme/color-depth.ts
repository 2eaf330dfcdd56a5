import { WriteStream } from "node:tty";
import type { ColorChoice } from "../../../arguments.ts";

/** Bits of colour: none, 16 colours, 256, or all of them. */
export type ColorDepth = 1 | 4 | 8 | 24;

/**
 * How many colours a terminal is to be sent. `--color` counts most, then `FORCE_COLOR`, then a `NO_COLOR` that is not
 * empty, then what the terminal says of itself in `TERM` and `COLORTERM` (T38).
 */
export function colorDepth(choice: ColorChoice, env: NodeJS.ProcessEnv): ColorDepth {
  const { NO_COLOR, FORCE_COLOR, ...own } = env;
  if (choice === "never") return 1;
  if (choice === "auto" && FORCE_COLOR === undefined && NO_COLOR) return 1;
  const forced = choice === "auto" && FORCE_COLOR !== undefined ? { ...own, FORCE_COLOR } : own;
  const depth = WriteStream.prototype.getColorDepth(forced) as ColorDepth;
  return choice === "always" && depth === 1 ? 4 : depth;
}
