import type { IBufferCell } from "@xterm/headless";

/** Style of a piece of a line. Colours are CSS colours. */
export interface Look {
  readonly color: string;
  readonly background: string | undefined;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
}

/** A piece of a line with one style. Positions and widths are in columns. */
export interface Run {
  readonly column: number;
  readonly text: string;
  readonly width: number;
  readonly look: Look;
}

/** A screen, with its time in milliseconds. */
export interface Still {
  readonly at: number;
  readonly rows: readonly (readonly Run[])[];
  readonly cursor: { readonly row: number; readonly column: number } | undefined;
}

/** Default colours of the animation, and the 16 named colours. */
export const paper = { color: "#c9d1d9", background: "#0d1117", edge: "#30363d" } as const;
const named = [
  ...["#484f58", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#c9d1d9"],
  ...["#8b949e", "#ffa198", "#aff5b4", "#f2cc60", "#a5d6ff", "#e2c5ff", "#b3f0ff", "#ffffff"],
];

/** Style of a cell. */
export function lookOf(cell: IBufferCell): Look {
  const front = cell.isFgDefault() ? undefined : colorOf(cell.getFgColor(), cell.isFgRGB());
  const back = cell.isBgDefault() ? undefined : colorOf(cell.getBgColor(), cell.isBgRGB());
  const isInverse = cell.isInverse() !== 0;
  return {
    color: isInverse ? (back ?? paper.background) : (front ?? paper.color),
    background: isInverse ? (front ?? paper.color) : back,
    bold: cell.isBold() !== 0,
    dim: cell.isDim() !== 0,
    italic: cell.isItalic() !== 0,
    underline: cell.isUnderline() !== 0,
  };
}

/** Converts a number of the 256 colours, or RGB components, to CSS. */
function colorOf(value: number, isParts: boolean): string {
  if (isParts) return `#${value.toString(16).padStart(6, "0")}`;
  const name = named[value];
  if (name !== undefined) return name;
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40);
  const cube = value - 16;
  const parts =
    value >= 232
      ? Array<number>(3).fill(8 + (value - 232) * 10)
      : [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(level);
  return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}
