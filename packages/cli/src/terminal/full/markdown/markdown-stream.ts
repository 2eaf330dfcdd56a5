import type { ChangeDraft } from "@banyan/core/conversation";
import type { Token, Tokens } from "marked";
import { draftEnd, draftLines } from "../../../show/diff-lines.ts";
import { cutToWidth, wrapCells } from "../screen/cells.ts";
import { blockLines, CONTEXT, codeLabel, codeLines, itemLines, itemNumber } from "./blocks.ts";
import type { Look } from "./look.ts";
import { lexMarkdown } from "./look.ts";
import { splitParagraph } from "./split-paragraph.ts";
import { columnWidths, roomyWidths, type TableBegun, tableLines } from "./table.ts";

/** Lines of a Markdown text that is still streaming. */
export interface VisibleMarkdown {
  /** New final lines. Each line is returned only once. */
  readonly finished: readonly string[];
  /** The last lines below them, which may still change. */
  readonly open: readonly string[];
}

/** Maximum lines of a change while it streams: as many as of a finished change. */
const MOST_DRAFT_LINES = 10;

type UnfinishedCode = Extract<UnfinishedBlock, { type: "code" }>;

/** A block whose beginning is final while the rest streams. */
type UnfinishedBlock =
  | { readonly type: "code"; readonly fence: CodeFence; readonly before: string[]; count: number }
  | { readonly type: "list"; readonly number: number | undefined }
  | { readonly type: "table"; readonly head: string; readonly table: TableBegun }
  | { readonly type: "paragraph" };

/**
 * Renders streaming Markdown as lines (T22). Final parts are returned once and forgotten, so that the work per piece
 * stays constant. Final parts are whole blocks, lines of code, list items, and the beginning of a table or paragraph
 * that exceeds its room.
 */
export class MarkdownStream {
  #source = "";
  #begun: UnfinishedBlock | undefined;
  #isFirst = true;
  #ended = false;
  /** The file change that the code block contains. */
  #captured: ChangeDraft | undefined;

  /** Appends text, which must be free of control characters (S12). */
  push(text: string): void {
    this.#source += text;
  }

  /** The current or next code block is a file change of the model, and is shown as a change. */
  capture(draft: ChangeDraft): void {
    this.#captured = draft;
  }

  end(): void {
    this.#ended = true;
  }

  /** Renders lines for a width. `room`: number of visible open lines. */
  show(width: number, room: number, look: Look): VisibleMarkdown {
    const finished: string[] = [];
    while (this.#advance(width, room, look, finished));
    return { finished, open: this.#openLines(width, look).slice(-room) };
  }

  /** Moves final lines of the first block to `finished`. Returns whether there may be more. */
  #advance(width: number, room: number, look: Look, finished: string[]): boolean {
    if (this.#begun?.type === "code") return this.#code(this.#begun, width, look, finished);
    // An incomplete line may or may not belong to the previous block.
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
    return lexMarkdown(head + source);
  }

  #give(lines: readonly string[], finished: string[]): void {
    if (lines.length === 0) return;
    if (!this.#isFirst && !this.#begun) finished.push("");
    for (const line of lines) finished.push(line);
    this.#isFirst = false;
  }

  #consume(tokens: readonly Token[], last: Token): void {
    const raw = tokens.slice(0, tokens.indexOf(last) + 1).reduce((sum, { raw }) => sum + raw.length, 0);
    const head = this.#begun?.type === "table" ? this.#begun.head.length : 0;
    this.#source = this.#source.slice(raw - head);
  }

  #linesOf(token: Token, width: number, look: Look, isWhole: boolean): string[] {
    const begun = this.#begun;
    if (token.type === "list") {
      const list = token as Tokens.List;
      const number = begun?.type === "list" ? begun.number : itemNumber(list, 0);
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

  /** Begins a code block once its first line is complete. */
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

  #code(begun: UnfinishedCode, width: number, look: Look, finished: string[]): boolean {
    const { fence } = begun;
    const lines = this.#source.split("\n");
    const partial = this.#ended ? "" : (lines.pop() ?? "");
    const end = lines.findIndex((line) => isClosing(line, fence));
    const code = end < 0 ? lines : lines.slice(0, end);
    if (this.#ended && end < 0 && code.at(-1) === "") code.pop();
    const own = code.map((line) => withoutCodeIndent(line, fence));
    if (!this.#captured && (own.length > 0 || end >= 0))
      for (const line of shownCode(own, begun, look)) finished.push(line);
    begun.count += own.length;
    begun.before.push(...own);
    begun.before.splice(0, begun.before.length - CONTEXT);
    this.#source = end < 0 ? partial : [...lines.slice(end + 1), ...(this.#ended ? [] : [partial])].join("\n");
    if (end < 0 && !this.#ended) return false;
    // The finished change is shown when it is applied.
    if (this.#captured && end >= 0) finished.push(look.theme.dim(draftEnd(this.#captured, begun.count, look.theme)));
    else if (this.#captured) finished.push(...this.#draftLines(this.#captured, begun, width, look));
    this.#begun = undefined;
    this.#captured = undefined;
    return end >= 0;
  }

  #draftLines(draft: ChangeDraft, { fence, before, count }: UnfinishedCode, width: number, look: Look): string[] {
    const isOpen = this.#source !== "" && !isClosing(this.#source, fence, true);
    const written = isOpen ? [...before, withoutCodeIndent(this.#source, fence)] : before;
    const text = written.map((line) => `${line}\n`).join("");
    const options = { style: look.theme, most: MOST_DRAFT_LINES, before: count - before.length };
    return draftLines({ ...draft, text }, options).map((line) => cutToWidth(line, width));
  }

  /** All items but the last are final. */
  #items(list: Tokens.List, width: number, look: Look, finished: string[]): void {
    const done = list.items.slice(0, -1);
    if (done.length === 0) return;
    const first = this.#begun?.type === "list" ? this.#begun.number : itemNumber(list, 0);
    const isNumbered = first !== undefined;
    const lines = done.flatMap((item, index) => itemLines(item, isNumbered ? first + index : undefined, width, look));
    this.#give(lines, finished);
    const raw = done.reduce((sum, item) => sum + item.raw.length, 0);
    this.#source = this.#source.slice(this.#source.indexOf(list.raw) + raw);
    this.#begun = { type: "list", number: isNumbered ? first + done.length : undefined };
  }

  /** In a table that exceeds its room, all rows but the last are final; the column widths then stay. */
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

  /** The beginning of a paragraph that exceeds its room is final. */
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
      return shownCode([withoutCodeIndent(this.#source, begun.fence)], begun, look).flatMap((line) =>
        wrapCells(line, width),
      );
    }
    const [first, ...others] = this.#tokens(this.#source).filter(({ type }) => type !== "space");
    if (!first) return [];
    const lines = this.#linesOf(first, width, look, false);
    for (const token of others) lines.push("", ...blockLines(token, width, look, true));
    return this.#isFirst || begun ? lines : ["", ...lines];
  }
}

/** Returns whether the last block of a source of complete lines is complete. */
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

function shownCode(lines: readonly string[], { fence, before, count }: UnfinishedCode, look: Look): string[] {
  const label = count === 0 ? codeLabel(fence.language, look) : [];
  return [...label, ...codeLines(lines, fence.language, look, before)];
}

function withoutCodeIndent(line: string, { indent }: CodeFence): string {
  return line.slice(Math.min(indent, line.length - line.trimStart().length));
}

/** The fence of a code block, which also defines its end. */
export interface CodeFence {
  readonly mark: "`" | "~";
  readonly length: number;
  /** The blanks before the opening fence. The lines of the block begin with the same blanks. */
  readonly indent: number;
  readonly language: string;
}

/** The opening fence of a code block; undefined without a fence, or while its line is incomplete. */
function begunFence(raw: string, language: string): CodeFence | undefined {
  const [, indent = "", marks = ""] = /^( {0,3})(`{3,}|~{3,})[^\n]*\n/.exec(raw) ?? [];
  if (marks === "") return undefined;
  return { mark: marks.startsWith("`") ? "`" : "~", length: marks.length, indent: indent.length, language };
}

/** Returns whether a line closes the code. `isPart`: an incomplete line may close it from its first mark on. */
function isClosing(line: string, { mark, length }: CodeFence, isPart = false): boolean {
  const marks = line.trim();
  return marks.length >= (isPart ? 1 : length) && marks === mark.repeat(marks.length) && !/^ {4}/.test(line);
}

/** Renders a complete Markdown text, free of control characters (S12), as lines of a width. */
export function markdownLines(text: string, width: number, look: Look): readonly string[] {
  const stream = new MarkdownStream();
  stream.push(text);
  stream.end();
  return stream.show(width, Number.MAX_SAFE_INTEGER, look).finished;
}
