import type { WriteStream } from "node:tty";
import { styleText } from "node:util";
import type { ColorChoice } from "../program/prompt-arguments.ts";

type Format = Parameters<typeof styleText>[0];

/** Colours for one stream, or unchanged text. */
export interface Style {
  dim(text: string): string;
  bold(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  warning(text: string): string;
  accent(text: string): string;
}

/**
 * `auto`: as the stream and the environment allow (NO_COLOR, FORCE_COLOR, TERM; T38). Colours never carry a meaning
 * that the text lacks.
 */
export function styleFor(stream: NodeJS.WritableStream | WriteStream, color: ColorChoice): Style {
  const paint = (format: Format) => (text: string) => {
    if (color === "never" || text === "") return text;
    return styleText(format, text, color === "always" ? { validateStream: false } : { stream });
  };
  return {
    dim: paint("dim"),
    bold: paint("bold"),
    good: paint("green"),
    bad: paint("red"),
    warning: paint("yellow"),
    accent: paint("cyan"),
  };
}
