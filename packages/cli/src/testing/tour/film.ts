import { type Look, paper, type Run, type Still } from "./still.ts";

const CELL = 8.4;
const LINE = 18;
const EDGE = 14;

/** Size and timing of an animation. */
export interface FilmOptions {
  readonly columns: number;
  readonly rows: number;
  readonly title: string;
  /** Milliseconds of the last frame before the animation repeats. */
  readonly last: number;
}

/**
 * Combines frames of a terminal into one SVG, animated by CSS: the frames are side by side on a strip that moves by
 * one frame at a time. Repeated lines are stored once. With reduced motion, only the last frame is visible.
 */
export function film(stills: readonly Still[], { columns, rows, title, last }: FilmOptions): string {
  const width = Math.ceil(columns * CELL) + 2 * EDGE;
  const height = rows * LINE + 2 * EDGE;
  const lines = new Map<string, string>();
  const known = (line: string) => {
    const id = lines.get(line) ?? `l${lines.size.toString(36)}`;
    lines.set(line, id);
    return id;
  };
  const pictures = stills.map((still, index) => {
    const drawn = still.rows.flatMap((runs, row) =>
      runs.length === 0 ? [] : [`<use href="#${known(lineOf(runs))}" y="${row * LINE}"/>`],
    );
    const { cursor } = still;
    if (cursor) drawn.push(`<use href="#c" x="${place(cursor.column)}" y="${cursor.row * LINE}"/>`);
    return `<g transform="translate(${index * width})">${drawn.join("")}</g>`;
  });
  const whole = (stills.at(-1)?.at ?? 0) + last;
  const steps = stills.map(
    ({ at }, index) => `${Number(((at / whole) * 100).toFixed(3))}%{transform:translateX(-${index * width}px)}`,
  );
  const end = `translateX(-${(stills.length - 1) * width}px)`;
  const defined = [...lines].map(([line, id]) => `<g id="${id}">${line}</g>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>${escaped(title)}</title>
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:${paper.color};white-space:pre}
.b{font-weight:bold}.d{opacity:.6}.i{font-style:italic}.u{text-decoration:underline}
#strip{animation:film ${whole}ms step-end infinite}
@keyframes film{${steps.join("")}100%{transform:${end}}}
@media (prefers-reduced-motion:reduce){#strip{animation:none;transform:${end}}}
</style>
<defs>
<rect id="c" width="${CELL}" height="${LINE}" fill="${paper.color}" opacity=".55"/>
${defined.join("\n")}
</defs>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8" fill="${paper.background}" stroke="${paper.edge}"/>
<svg aria-hidden="true" x="${EDGE}" y="${EDGE}" width="${place(columns)}" height="${rows * LINE}"><g id="strip">
${pictures.join("\n")}
</g></svg>
</svg>
`;
}

function lineOf(runs: readonly Run[]): string {
  const behind = runs.flatMap(({ column, width, look }) =>
    look.background === undefined
      ? []
      : [`<rect x="${place(column)}" width="${place(width)}" height="${LINE}" fill="${look.background}"/>`],
  );
  return behind.join("") + runs.map(textOf).join("");
}

/** A run of text at its place, stretched to its columns with any font. */
function textOf({ column, text, width, look }: Run): string {
  const left = text.length - text.trimStart().length;
  const shown = text.trim();
  if (shown === "") return "";
  const columns = width - left - (text.length - text.trimEnd().length);
  return `<text x="${place(column + left)}" y="13" textLength="${place(columns)}"${classOf(look)}>${escaped(shown)}</text>`;
}

function classOf({ color, bold, dim, italic, underline }: Look): string {
  const marks = [bold && "b", dim && "d", italic && "i", underline && "u"].filter((mark) => mark !== false);
  return `${marks.length === 0 ? "" : ` class="${marks.join(" ")}"`}${color === paper.color ? "" : ` style="fill:${color}"`}`;
}

function place(columns: number): number {
  return Number((columns * CELL).toFixed(1));
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}
