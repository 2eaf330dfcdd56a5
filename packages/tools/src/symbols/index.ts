export type { FileSymbols, SymbolRange } from "./file-symbols.ts";
export { SymbolFinder } from "./finder.ts";
export { languageOf, SymbolError, type SymbolErrorCode, type SymbolLanguage } from "./language.ts";
