import type { ColorChoice } from "../program/prompt-arguments.ts";
import { styleFor } from "../show/style.ts";
import type { Terminal, TerminalOptions } from "./contract/terminal.ts";

export interface OpenTerminalOptions extends Omit<TerminalOptions, "style"> {
  readonly plain: boolean;
  readonly color: ColorChoice;
}

/** Opens a plain terminal if the user or the terminal requires one (T38, T39), or else a full terminal. */
export async function openTerminal({ plain, color, env, ...options }: OpenTerminalOptions): Promise<Terminal> {
  const { TERM, ACCESSIBLE } = env;
  if (plain || TERM === "dumb" || (ACCESSIBLE !== undefined && ACCESSIBLE !== "" && ACCESSIBLE !== "0")) {
    const { PlainTerminal } = await import("./plain-terminal.ts");
    return new PlainTerminal({ ...options, env, style: styleFor(options.output, color) });
  }
  const [{ FullTerminal }, { colorDepth }] = await Promise.all([
    import("./full/full-terminal.ts"),
    import("./full/theme/terminal-colors.ts"),
  ]);
  return new FullTerminal({ ...options, env, depth: colorDepth(color, env) });
}
