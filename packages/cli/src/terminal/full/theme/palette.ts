import type { ColorDepth, Scheme } from "./terminal-colors.ts";

/** One of the terminal's 16 colours (undefined for the text colour), and replacements if there are more colours. */
interface Color {
  readonly basic: number | undefined;
  readonly dark: string;
  readonly light: string;
}

/** Colours by meaning. The 16 colours belong to the terminal, so they suit its background. */
const USUAL = {
  good: { basic: 2, dark: "#7ec699", light: "#1a7f37" },
  bad: { basic: 1, dark: "#f08080", light: "#c62828" },
  warning: { basic: 3, dark: "#e0b050", light: "#8a5a00" },
  accent: { basic: 6, dark: "#6cb6ff", light: "#0a66b7" },
  dim: { basic: 8, dark: "#8b949e", light: "#656d76" },
  heading: { basic: 6, dark: "#8ec7ff", light: "#0a4f94" },
  code: { basic: 3, dark: "#e6c07b", light: "#7a4a00" },
  link: { basic: 4, dark: "#79b8ff", light: "#0550ae" },
  keyword: { basic: 5, dark: "#d2a8ff", light: "#8250df" },
  string: { basic: 2, dark: "#a5d6a7", light: "#116329" },
  number: { basic: 3, dark: "#f2cc8f", light: "#9a4a00" },
  comment: { basic: 8, dark: "#868e99", light: "#6e7781" },
  name: { basic: 4, dark: "#82aaff", light: "#0550ae" },
  type: { basic: 6, dark: "#7fdbca", light: "#0b6e6e" },
} as const satisfies Readonly<Record<string, Color>>;

/** Name of a colour by its meaning, such as `good`. */
export type ColorName = keyof typeof USUAL;

export const colorNames = Object.keys(USUAL) as readonly ColorName[];

export type Palette = Readonly<Record<ColorName, Color>>;

/** Contrast of at least 7:1 against black, dark grey or white (WCAG AAA); no faint text. */
const HIGH_CONTRAST: Palette = {
  good: { basic: 2, dark: "#5dff8f", light: "#005a1e" },
  bad: { basic: 1, dark: "#ffb0b0", light: "#8f0000" },
  warning: { basic: 3, dark: "#ffd75f", light: "#5c3c00" },
  accent: { basic: 6, dark: "#7fd7ff", light: "#003f7d" },
  dim: { basic: undefined, dark: "#d8d8d8", light: "#3a3a3a" },
  heading: { basic: 6, dark: "#afe0ff", light: "#002f6b" },
  code: { basic: 3, dark: "#ffe08a", light: "#522f00" },
  link: { basic: 6, dark: "#9fcfff", light: "#003a8c" },
  keyword: { basic: 5, dark: "#e5c4ff", light: "#4b1a9e" },
  string: { basic: 2, dark: "#a8f5b0", light: "#00471a" },
  number: { basic: 3, dark: "#ffd7a0", light: "#6a2e00" },
  comment: { basic: undefined, dark: "#d0d0d0", light: "#404040" },
  name: { basic: 6, dark: "#b8d0ff", light: "#002f80" },
  type: { basic: 6, dark: "#90f0e0", light: "#004848" },
};

/** Avoids distinctions between red and green, as Okabe and Ito's palette: good is blue, bad is orange. */
const COLOR_BLIND: Palette = {
  ...USUAL,
  good: { basic: 6, dark: "#56b4e9", light: "#005a9c" },
  bad: { basic: 3, dark: "#ff9e4a", light: "#a34000" },
  warning: { basic: 5, dark: "#f0e442", light: "#6b5a00" },
  accent: { basic: 4, dark: "#cc9bff", light: "#6a2fb5" },
  heading: { basic: 4, dark: "#cc9bff", light: "#5a259c" },
  string: { basic: 6, dark: "#8fd0f5", light: "#00507d" },
};

export const palettes = { usual: USUAL, "high-contrast": HIGH_CONTRAST, "color-blind": COLOR_BLIND } as const;

/** Returns the escape sequence parameters of a colour. Undefined without colours. */
export function colorParameters(color: Color, depth: ColorDepth, scheme: Scheme): string | undefined {
  if (depth === 1) return undefined;
  if (depth === 4) {
    // Bright black is invisible on some backgrounds; faint text is not.
    if (color.basic === 8) return "2";
    return color.basic === undefined ? undefined : String(30 + color.basic);
  }
  const [red, green, blue] = channels(color[scheme]);
  return depth === 24 ? `38;2;${red};${green};${blue}` : `38;5;${nearestOf256(red, green, blue)}`;
}

function channels(hex: string): readonly [number, number, number] {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

const LEVELS = [0, 95, 135, 175, 215, 255] as const;

/** The nearest of the 256 colours: in the cube (16 to 231) or among the greys (232 to 255). */
function nearestOf256(red: number, green: number, blue: number): number {
  const [r, g, b] = [red, green, blue].map(nearestLevel) as [number, number, number];
  const grey = Math.max(0, Math.min(23, Math.round(((red + green + blue) / 3 - 8) / 10)));
  const level = 8 + grey * 10;
  const toGrey = colorDistance([red, green, blue], [level, level, level]);
  const toCube = colorDistance([red, green, blue], [LEVELS[r] ?? 0, LEVELS[g] ?? 0, LEVELS[b] ?? 0]);
  return toGrey < toCube ? 232 + grey : 16 + 36 * r + 6 * g + b;
}

function nearestLevel(channel: number): number {
  let best = 0;
  for (const [index, level] of LEVELS.entries())
    if (Math.abs(level - channel) < Math.abs((LEVELS[best] ?? 0) - channel)) best = index;
  return best;
}

function colorDistance(one: readonly number[], other: readonly number[]): number {
  return one.reduce((sum, value, index) => sum + (value - (other[index] ?? 0)) ** 2, 0);
}
