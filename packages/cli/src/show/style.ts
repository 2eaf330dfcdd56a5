import type { WriteStream } from "node:tty";
import { styleText } from "node:util";
import type { ColorChoice } from "../program/prompt-arguments.ts";

type Format = Parameters<typeof styleText>[0];

/** Functions that colour text for one stream. Without colours, they return the text unchanged. */
export interface Style {
  dim(text: string): string;
  bold(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  warning(text: string): string;
  accent(text: string): string;
}

/** Creates the style of a stream. `auto`: colours depend on the stream and on NO_COLOR, FORCE_COLOR and TERM (T38). */
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
