import { LineTerminal } from "./line-terminal.ts";
import { PlainTerminal } from "./plain-terminal.ts";
import type { Terminal, TerminalOptions } from "./terminal.ts";

/** The terminal that fits: plain lines when somebody asks for them or the terminal can do no more (T38, T39). */
export function openTerminal(options: TerminalOptions & { readonly plain: boolean }): Terminal {
  const { TERM, ACCESSIBLE } = process.env;
  const plain =
    options.plain || TERM === "dumb" || (ACCESSIBLE !== undefined && ACCESSIBLE !== "" && ACCESSIBLE !== "0");
  return plain ? new PlainTerminal(options) : new LineTerminal(options);
}
