import type { Style } from "../../../show/style.ts";
import { type ColorName, colorNames, colorParameters, type Palette, palettes } from "./palette.ts";
import type { ColorDepth, Scheme } from "./terminal-colors.ts";

type Paint = (text: string) => string;

/** Functions that colour text by its meaning, or make it bold. Without colours, text stays unchanged. */
export type Theme = Style &
  Readonly<Record<Exclude<ColorName, keyof Style>, Paint>> & {
    readonly depth: ColorDepth;
    italic(text: string): string;
    underline(text: string): string;
    strike(text: string): string;
    selected(text: string): string;
  };

/** Creates the theme of a terminal. A text's meaning must be clear without its colours, too. */
export function createTheme(depth: ColorDepth, scheme: Scheme, palette: Palette = palettes.usual): Theme {
  const colors = Object.fromEntries(
    colorNames.map((name) => {
      const parameters = colorParameters(palette[name], depth, scheme);
      return [name, paint(parameters, parameters === "2" ? "22" : "39")];
    }),
  ) as Record<ColorName, Paint>;
  const weight = (on: string, off: string) => paint(depth === 1 ? undefined : on, off);
  return {
    ...colors,
    depth,
    bold: weight("1", "22"),
    italic: weight("3", "23"),
    underline: weight("4", "24"),
    strike: weight("9", "29"),
    selected: weight("7", "27"),
  };
}

/** Inner colours stay, and the text after them gets the outer colour again. */
function paint(on: string | undefined, off: string): Paint {
  if (on === undefined) return (text) => text;
  const open = `\x1b[${on}m`;
  const close = `\x1b[${off}m`;
  return (text) => (text === "" ? text : `${open}${text.replaceAll(close, close + open)}${close}`);
}
