import { SymbolFinder } from "./finder.ts";
import { SymbolError, type SymbolLanguage } from "./language.ts";

/** Looks for symbols in texts of one language. */
export interface Finding {
  /** Returns the lines of a symbol. */
  lines(text: string, name: string): Promise<string>;
  /** Returns the code and the message of the error. */
  problem(text: string, name: string): Promise<string>;
}

export function findingIn(language: SymbolLanguage): Finding {
  const finder = new SymbolFinder();
  return {
    async lines(text, name) {
      const { start, end } = (await finder.read(text, language)).find(name);
      return text
        .split(/(?<=\n)/)
        .slice(start - 1, end - 1)
        .join("");
    },
    async problem(text, name) {
      const symbols = await finder.read(text, language);
      try {
        symbols.find(name);
      } catch (error) {
        if (error instanceof SymbolError) return `${error.code}: ${error.message}`;
        throw error;
      }
      return "none";
    },
  };
}
