import type { Draft } from "@banyan/core/conversation";
import type { Token, Tokens } from "marked";
import { draftEnd, draftLines } from "../../../show/diff-lines.ts";
import { cut, wrapped } from "../screen/cells.ts";
import { blockLines, CONTEXT, codeLabel, codeLines, itemLines, lexed, numberOf } from "./blocks.ts";
import type { Look } from "./look.ts";
import { splitParagraph } from "./split-paragraph.ts";
import { columnWidths, roomyWidths, type TableBegun, tableLines } from "./table.ts";

/** What can be seen of a text that is still coming. */
export interface Shown {
  /** Lines that are final, and were not answered before. */
  readonly finished: readonly string[];
  /** Lines below them that may still change: the last of them. */
  readonly open: readonly string[];
}

/** Lines of a change that are seen while it is written: as many as of one that is made. */
const MOST_DRAFT_LINES = 10;

type BegunCode = Extract<Begun, { type: "code" }>;

/** A block of which the beginning is final already, while the rest is still coming. */
type Begun =
  | { readonly type: "code"; readonly fence: Fence; readonly before: string[]; count: number }
  | { readonly type: "list"; readonly number: number | undefined }
  | { readonly type: "table"; readonly head: string; readonly table: TableBegun }
  | { readonly type: "paragraph" };

/**
 * Markdown that arrives in pieces, as lines (T22). What is final is answered once and forgotten, so the work for a piece
 * does not grow with the text: whole blocks, lines of code, items of a list, and of a table or a paragraph that is longer
 * than the room for it, the beginning.
 *
 * ```
 *   given before │ finished now │ open: the block that is still growing
 *                               ╰ #source begins here, after #begun if that block was given in part
 * ```
 */
export class MarkdownStream {
  #source = "";
  #begun: Begun | undefined;
  #isFirst = true;
  #ended = false;
  /** The change that the code is. */
  #captured: Draft | undefined;

  /** Takes more of the text, which must be plain by then (S12). */
  push(text: string): void {
    this.#source += text;
  }

  /** The code that comes now, or next, is a change of a file that the model writes: it is shown as one. */
  capture(draft: Draft): void {
    this.#captured = draft;
  }

  /** No more will come: everything is final. */
  end(): void {
    this.#ended = true;
  }

  /** The lines for a width. `room`: how many open lines can be seen. */
  show(width: number, room: number, look: Look): Shown {
    const finished: string[] = [];
    while (this.#advance(width, room, look, finished));
    return { finished, open: this.#openLines(width, look).slice(-room) };
  }

  /** Gives what is final of the block at the beginning; returns whether there may be more. */
  #advance(width: number, room: number, look: Look, finished: string[]): boolean {
    if (this.#begun?.type === "code") return this.#code(this.#begun, width, look, finished);
    // A line that is not whole yet may belong to the block before it or not.
    const whole = this.#ended ? this.#source : this.#source.slice(0, this.#source.lastIndexOf("\n") + 1);
    const tokens = this.#tokens(whole);
    const token = tokens.find(({ type }) => type !== "space");
    if (!token) return this.#part(width, room, look, finished);
    if (token.type === "code" && this.#fence(token as Tokens.Code, finished)) return true;
    const isLast = tokens.findLast(({ type }) => type !== "space") === token;
    if (!isLast || this.#ended || isClosed(token, whole)) {
      this.#give(this.#linesOf(token, width, look, true), finished);
      this.#consume(tokens, token);
      this.#begun = undefined;
      return true;
    }
    switch (token.type) {
      case "list":
        this.#items(token as Tokens.List, width, look, finished);
        break;
      case "table":
        this.#rows(token as Tokens.Table, width, room, look, finished);
        break;
      case "paragraph":
        return this.#part(width, room, look, finished);
    }
    return false;
  }

  #tokens(source: string): Token[] {
    const head = this.#begun?.type === "table" ? this.#begun.head : "";
    return lexed(head + source);
  }

  /** Adds lines, apart from the block before; a block that was begun goes on. */
  #give(lines: readonly string[], finished: string[]): void {
    if (lines.length === 0) return;
    if (!this.#isFirst && !this.#begun) finished.push("");
    for (const line of lines) finished.push(line);
    this.#isFirst = false;
  }

  /** Drops the source up to the end of a block. */
  #consume(tokens: readonly Token[], last: Token): void {
    const raw = tokens.slice(0, tokens.indexOf(last) + 1).reduce((sum, { raw }) => sum + raw.length, 0);
    const head = this.#begun?.type === "table" ? this.#begun.head.length : 0;
    this.#source = this.#source.slice(raw - head);
  }

  #linesOf(token: Token, width: number, look: Look, isWhole: boolean): string[] {
    const begun = this.#begun;
    if (token.type === "list") {
      const list = token as Tokens.List;
      const number = begun?.type === "list" ? begun.number : numberOf(list, 0);
      return list.items.flatMap((item, index) =>
        itemLines(item, number === undefined ? undefined : number + index, width, look, !isWhole),
      );
    }
    if (token.type === "table")
      return tableLines(token as Tokens.Table, width, look, {
        begun: begun?.type === "table" ? begun.table : undefined,
        ended: isWhole,
      });
    return blockLines(token, width, look, !isWhole);
  }

  /** Begins a block of code once its first line is whole. */
  #fence({ raw, lang = "" }: Tokens.Code, finished: string[]): boolean {
    const fence = begunFence(raw, lang);
    if (!fence) return false;
    const at = this.#source.indexOf(raw);
    if (!this.#isFirst) finished.push("");
    this.#isFirst = false;
    this.#source = this.#source.slice(at + raw.indexOf("\n") + 1);
    this.#begun = { type: "code", fence, before: [], count: 0 };
    return true;
  }

  #code(begun: BegunCode, width: number, look: Look, finished: string[]): boolean {
    const { fence } = begun;
    const lines = this.#source.split("\n");
    const partial = this.#ended ? "" : (lines.pop() ?? "");
    const end = lines.findIndex((line) => isClosing(line, fence));
    const code = end < 0 ? lines : lines.slice(0, end);
    if (this.#ended && end < 0 && code.at(-1) === "") code.pop();
    const own = code.map((line) => withoutIndent(line, fence));
    if (!this.#captured && (own.length > 0 || end >= 0))
      for (const line of shownCode(own, begun, look)) finished.push(line);
    begun.count += own.length;
    begun.before.push(...own);
    begun.before.splice(0, begun.before.length - CONTEXT);
    this.#source = end < 0 ? partial : [...lines.slice(end + 1), ...(this.#ended ? [] : [partial])].join("\n");
    if (end < 0 && !this.#ended) return false;
    // The change itself is shown when it is made.
    if (this.#captured && end >= 0) finished.push(look.theme.dim(draftEnd(this.#captured, begun.count, look.theme)));
    else if (this.#captured) finished.push(...this.#draftLines(this.#captured, begun, width, look));
    this.#begun = undefined;
    this.#captured = undefined;
    return end >= 0;
  }

  /** The end of a change that is being written. */
  #draftLines(draft: Draft, { fence, before, count }: BegunCode, width: number, look: Look): string[] {
    const isOpen = this.#source !== "" && !isClosing(this.#source, fence, true);
    const written = isOpen ? [...before, withoutIndent(this.#source, fence)] : before;
    const text = written.map((line) => `${line}\n`).join("");
    const options = { style: look.theme, most: MOST_DRAFT_LINES, before: count - before.length };
    return draftLines({ ...draft, text }, options).map((line) => cut(line, width));
  }

  /** Items that another one stands behind are final. */
  #items(list: Tokens.List, width: number, look: Look, finished: string[]): void {
    const done = list.items.slice(0, -1);
    if (done.length === 0) return;
    const first = this.#begun?.type === "list" ? this.#begun.number : numberOf(list, 0);
    const isNumbered = first !== undefined;
    const lines = done.flatMap((item, index) => itemLines(item, isNumbered ? first + index : undefined, width, look));
    this.#give(lines, finished);
    const raw = done.reduce((sum, item) => sum + item.raw.length, 0);
    this.#source = this.#source.slice(this.#source.indexOf(list.raw) + raw);
    this.#begun = { type: "list", number: isNumbered ? first + done.length : undefined };
  }

  /** The rows of a table that is longer than the room for it are final, all but the last; the columns stay as wide as they are. */
  #rows(table: Tokens.Table, width: number, room: number, look: Look, finished: string[]): void {
    const begun = this.#begun?.type === "table" ? this.#begun : undefined;
    const done = table.rows.slice(0, -1);
    const natural = begun ? undefined : columnWidths(table, width, look);
    const widths = begun?.table.widths ?? (natural && roomyWidths(natural, width));
    if (!widths || done.length === 0 || this.#linesOf(table, width, look, false).length <= room) return;
    const lines = tableLines({ ...table, rows: done }, width, look, {
      begun: begun?.table ?? { widths, rows: 0 },
      hasHead: begun === undefined,
      ended: false,
    });
    this.#give(lines, finished);
    const source = (begun?.head ?? "") + this.#source;
    const [head = "", rule = "", ...rows] = source.slice(source.indexOf(table.raw)).split("\n");
    this.#source = rows.slice(done.length).join("\n");
    this.#begun = {
      type: "table",
      head: `${head}\n${rule}\n`,
      table: { widths, rows: (begun?.table.rows ?? 0) + done.length },
    };
  }

  /** The beginning of a paragraph that is longer than the room for it is final. */
  #part(width: number, room: number, look: Look, finished: string[]): boolean {
    const part = splitParagraph(this.#source, width, room, look);
    if (!part) return false;
    this.#give(part.lines, finished);
    this.#source = part.rest;
    this.#begun = { type: "paragraph" };
    return true;
  }

  #openLines(width: number, look: Look): string[] {
    const begun = this.#begun;
    if (begun?.type === "code" && this.#captured) return this.#draftLines(this.#captured, begun, width, look);
    if (this.#source.trim() === "") return [];
    if (begun?.type === "code") {
      if (isClosing(this.#source, begun.fence, true)) return [];
      return shownCode([withoutIndent(this.#source, begun.fence)], begun, look).flatMap((line) => wrapped(line, width));
    }
    const [first, ...others] = this.#tokens(this.#source).filter(({ type }) => type !== "space");
    if (!first) return [];
    const lines = this.#linesOf(first, width, look, false);
    for (const token of others) lines.push("", ...blockLines(token, width, look, true));
    return this.#isFirst || begun ? lines : ["", ...lines];
  }
}

/** Whether the last block of a source of whole lines can grow no more. */
function isClosed({ type }: Token, source: string): boolean {
  switch (type) {
    case "heading":
    case "hr":
      return /\n\s*$/.test(source);
    case "paragraph":
    case "blockquote":
    case "table":
    case "html":
    case "def":
      return /\n[ \t]*\n\s*$/.test(source);
    default:
      return false;
  }
}

/** The next lines of a block of code, the first ones below its label. */
function shownCode(lines: readonly string[], { fence, before, count }: BegunCode, look: Look): string[] {
  const label = count === 0 ? codeLabel(fence.language, look) : [];
  return [...label, ...codeLines(lines, fence.language, look, before)];
}

function withoutIndent(line: string, { indent }: Fence): string {
  return line.slice(Math.min(indent, line.length - line.trimStart().length));
}

/** What a block of code in Markdown begins with, and so what it ends with. */
export interface Fence {
  readonly mark: "`" | "~";
  readonly length: number;
  /** Blanks before it, which its lines have too. */
  readonly indent: number;
  readonly language: string;
}

/** The fence that a block of code begins with; nothing when it has none, or when that line is not whole yet. */
function begunFence(raw: string, language: string): Fence | undefined {
  const [, indent = "", marks = ""] = /^( {0,3})(`{3,}|~{3,})[^\n]*\n/.exec(raw) ?? [];
  if (marks === "") return undefined;
  return { mark: marks.startsWith("`") ? "`" : "~", length: marks.length, indent: indent.length, language };
}

/** Whether a line ends the code; a line that is not whole yet ends it perhaps as soon as it has one mark. */
function isClosing(line: string, { mark, length }: Fence, isPart = false): boolean {
  const marks = line.trim();
  return marks.length >= (isPart ? 1 : length) && marks === mark.repeat(marks.length) && !/^ {4}/.test(line);
}

/** A whole text in Markdown, which must be plain by then (S12), as lines of a width. */
export function markdownLines(text: string, width: number, look: Look): readonly string[] {
  const stream = new MarkdownStream();
  stream.push(text);
  stream.end();
  return stream.show(width, Number.MAX_SAFE_INTEGER, look).finished;
}
