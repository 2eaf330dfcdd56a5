import { counted } from "@banyan/core/shown";
import type { Tokens } from "marked";
import { padToWidth, textWidth, wrapCells } from "../screen/cells.ts";
import { inlineText } from "./inline.ts";
import type { Look } from "./look.ts";

const MOST_ROWS = 200;

const BETWEEN = " │ ";
const LEAST_COLUMN = 4;

/** A partly printed table: its column widths, and the number of printed rows. */
export interface TableBegun {
  readonly widths: readonly number[];
  readonly rows: number;
}

interface TableState {
  readonly begun?: TableBegun | undefined;
  readonly hasHead?: boolean;
  readonly ended?: boolean;
}

/** Returns column widths that fit the terminal. Undefined if the columns cannot fit. */
export function columnWidths({ header, rows }: Tokens.Table, width: number, look: Look): number[] | undefined {
  const room = width - BETWEEN.length * (header.length - 1);
  if (room < LEAST_COLUMN * header.length) return undefined;
  const widths = header.map((cell) => textWidth(inlineText(cell.tokens, look)));
  for (const row of rows.slice(0, MOST_ROWS))
    for (const [column, cell] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, textWidth(inlineText(cell.tokens, look)));
  let over = widths.reduce((sum, one) => sum + one, 0) - room;
  while (over > 0) {
    const widest = Math.max(...widths);
    const next = Math.max(LEAST_COLUMN, ...widths.filter((one) => one < widest));
    const many = widths.filter((one) => one === widest).length;
    const by = Math.max(1, Math.min(widest - next, Math.floor(over / many)));
    for (const [column, one] of widths.entries()) {
      if (one !== widest || over <= 0) continue;
      widths[column] = one - by;
      over -= by;
    }
  }
  return widths;
}

/** Returns column widths with extra room for later cells, if there is any. */
export function roomyWidths(widths: readonly number[], width: number): number[] {
  const left = width - widths.reduce((sum, one) => sum + one, 0) - BETWEEN.length * (widths.length - 1);
  const each = Math.max(0, Math.min(4, Math.floor(left / widths.length)));
  return widths.map((one, column) => one + (column === widths.length - 1 ? Math.max(0, left) - each * column : each));
}

/**
 * Renders a table as lines. Cells wrap in narrow columns. If the columns do not fit, each row becomes a list. Cuts a
 * table after 200 rows, and states the number of further rows. `begun`: the printed part, whose column widths stay.
 * `hasHead`: prints the header row. `ended`: no more rows follow.
 */
export function tableLines(
  table: Tokens.Table,
  width: number,
  look: Look,
  { begun, hasHead = !begun, ended = true }: TableState = {},
): string[] {
  const widths = begun?.widths ?? columnWidths(table, width, look);
  const before = begun?.rows ?? 0;
  const rows = table.rows.slice(0, Math.max(0, MOST_ROWS - before));
  const more = before + table.rows.length - MOST_ROWS;
  const rest = ended && more > 0 ? [look.theme.dim(`… (${counted(more, "more row")})`)] : [];
  if (!widths) return [...rows.flatMap((row) => recordLines(table, row, width, look)), ...rest];
  return [
    ...(hasHead ? headLines(table, widths, look) : []),
    ...rows.flatMap((row) => rowLines(row, table.align, widths, look)),
    ...rest,
  ];
}

function headLines({ header, align }: Tokens.Table, widths: readonly number[], look: Look): string[] {
  const { theme } = look;
  const rule = theme.dim(widths.map((width) => "─".repeat(width)).join("─┼─"));
  return [...rowLines(header, align, widths, look, theme.bold), rule];
}

function rowLines(
  cells: readonly Tokens.TableCell[],
  align: Tokens.Table["align"],
  widths: readonly number[],
  look: Look,
  paint = (text: string) => text,
): string[] {
  const columns = widths.map((width, column) => wrapCells(inlineText(cells[column]?.tokens, look), width));
  const height = Math.max(1, ...columns.map((lines) => lines.length));
  return Array.from({ length: height }, (_, row) =>
    columns
      .map((lines, column) => {
        const text = aligned(lines[row] ?? "", widths[column] ?? 0, align[column]);
        return paint(column === widths.length - 1 ? text.trimEnd() : text);
      })
      .join(look.theme.dim(BETWEEN)),
  );
}

function aligned(text: string, width: number, align: Tokens.Table["align"][number] | undefined): string {
  const left = width - textWidth(text);
  if (align === "right") return " ".repeat(Math.max(0, left)) + text;
  if (align === "center") return padToWidth(" ".repeat(Math.max(0, Math.floor(left / 2))) + text, width);
  return padToWidth(text, width);
}

function recordLines({ header }: Tokens.Table, row: readonly Tokens.TableCell[], width: number, look: Look): string[] {
  const cells = row.map((cell, column) => {
    const head = inlineText(header[column]?.tokens, look);
    return `${look.theme.bold(head)}: ${inlineText(cell.tokens, look)}`;
  });
  return [...cells.flatMap((cell) => wrapCells(cell, width)), ""];
}
