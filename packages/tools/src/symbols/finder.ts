import type { Language } from "web-tree-sitter";
import { type DeclaredSymbol, errorLines, findDeclarations } from "./declarations.ts";
import { FileSymbols } from "./file-symbols.ts";
import { grammars } from "./grammars/index.ts";
import type { SymbolLanguage } from "./language.ts";
import { SymbolError } from "./language.ts";

/** In UTF-16 units. Parsing uses about 60 bytes for each, and keeps the memory for the next text. */
const LONGEST_TEXT = 4_000_000;

/** Finds symbols in texts. Loads tree-sitter with the first text, and each grammar with the first text in its language. */
export class SymbolFinder {
  readonly #languages = new Map<SymbolLanguage, Promise<Language>>();

  /**
   * Parses a text and returns its symbols; syntax errors may hide some. Lets other work run meanwhile. Throws a
   * `SymbolError` (`size`) if the text has more than 4 million characters, and the signal's reason after an abort.
   */
  async read(text: string, language: SymbolLanguage, signal?: AbortSignal): Promise<FileSymbols> {
    signal?.throwIfAborted();
    if (text.length > LONGEST_TEXT)
      throw new SymbolError(
        "size",
        `The file is too long to find symbols in it: ${text.length} characters, more than ${LONGEST_TEXT}. Use line numbers instead.`,
      );
    const treeSitter = await import("./tree-sitter.ts");
    const grammar = grammars[language];
    const loading = this.#languages.get(language) ?? treeSitter.loadLanguage(grammar.file);
    this.#languages.set(language, loading);
    const pauses = new treeSitter.Pauses(signal);
    using tree = await treeSitter.parseTree(text, await loading, pauses);
    const symbols: DeclaredSymbol[] = [];
    for (const symbol of findDeclarations(tree.root, text, grammar)) {
      if (symbol) symbols.push(symbol);
      if (pauses.due) await pauses.take();
    }
    return new FileSymbols({ text, symbols, errorLines: errorLines(tree.root), trailing: grammar.trailing });
  }
}
