import { nearest } from "@banyan/core/shown";
import type { DeclaredSymbol, SymbolExtent } from "./declarations.ts";
import { SymbolError } from "./language.ts";

/** The lines of a symbol. Lines end with LF or CRLF. */
export interface SymbolRange {
  /** The dotted name. */
  readonly name: string;
  /** The first line, from 1, including comments, decorators and attributes directly above. */
  readonly start: number;
  /** The line after the last line. */
  readonly end: number;
}

/** The symbols of a text, as they were when the text was parsed. */
export class FileSymbols {
  readonly #text: string;
  readonly #symbols: readonly DeclaredSymbol[];
  readonly #errorLines: readonly number[];
  readonly #trailing: RegExp;

  constructor(read: {
    readonly text: string;
    readonly symbols: readonly DeclaredSymbol[];
    readonly errorLines: readonly number[];
    readonly trailing: RegExp;
  }) {
    this.#text = read.text;
    this.#symbols = read.symbols;
    this.#errorLines = read.errorLines;
    this.#trailing = new RegExp(`^[,;]?\\s*(?:${read.trailing.source})?$`);
  }

  /**
   * Returns the lines of the symbol with this dotted name (`Class.method` or `Class::method`). Throws a `SymbolError`
   * if no symbol or several symbols match, if a part does not parse, or if other code is on its lines.
   */
  find(name: string): SymbolRange {
    const wanted = name.trim().replaceAll("::", ".");
    const found = this.#symbols.filter((symbol) => symbol.name === wanted);
    const [symbol] = found;
    if (!symbol) throw new SymbolError("unknown", this.#unknown(wanted));
    if (found.length > 1) {
      const places = found.map(({ extent }) => lineRangeText(extent)).join("; ");
      throw new SymbolError(
        "ambiguous",
        `${wanted} is declared ${found.length} times: ${places}. Use line numbers instead.`,
      );
    }
    const { extent } = symbol;
    const { firstLine, lastLine, names } = extent;
    if (!extent.parses || this.#seemsCutShort(extent)) {
      const line = this.#errorLines.find((each) => each >= firstLine) ?? this.#errorLines[0];
      throw new SymbolError(
        "syntax",
        `There is a syntax error at line ${line}, so it is not certain where ${wanted} (${lineRangeText(extent)}) ends. Use line numbers instead.`,
      );
    }
    if (names.length > 1)
      throw new SymbolError(
        "shared",
        `${names.join(" and ")} are declared together (${lineRangeText(extent)}). Use line numbers instead.`,
      );
    if (!this.#hasLinesOfItsOwn(extent))
      throw new SymbolError(
        "shared",
        `Other code shares the lines of ${wanted} (${lineRangeText(extent)}). Use line numbers instead.`,
      );
    return { name: wanted, start: firstLine, end: lastLine + 1 };
  }

  #unknown(name: string): string {
    const names = new Set(this.#symbols.map((symbol) => symbol.name));
    const near = nearest(name, names);
    const [line] = this.#errorLines;
    return [
      `There is no symbol ${name}.`,
      ...(near.length > 0 ? [`Did you mean ${near.join(" or ")}?`] : []),
      ...(line === undefined ? [] : [`The syntax error at line ${line} may hide the symbol.`]),
    ].join(" ");
  }

  /** Returns whether deeper indented lines follow in a text with syntax errors. */
  #seemsCutShort({ start, end }: SymbolExtent): boolean {
    if (this.#errorLines.length === 0) return false;
    const [, indent = ""] = /\n([ \t]*)\S/.exec(this.#text.slice(end)) ?? [];
    return indent.length > this.#before(start).length;
  }

  #hasLinesOfItsOwn({ start, end }: SymbolExtent): boolean {
    const lineEnd = this.#text.indexOf("\n", end);
    const after = this.#text.slice(end, lineEnd < 0 ? undefined : lineEnd);
    return this.#before(start).trim() === "" && this.#trailing.test(after.trim());
  }

  #before(place: number): string {
    return this.#text.slice(this.#text.lastIndexOf("\n", place) + 1, place);
  }
}

function lineRangeText({ firstLine, lastLine }: SymbolExtent): string {
  return firstLine === lastLine ? `line ${firstLine}` : `lines ${firstLine} to ${lastLine}`;
}
