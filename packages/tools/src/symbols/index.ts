export { SymbolError, type SymbolErrorCode } from "./error.ts";
export type { FileSymbols, SymbolRange } from "./file-symbols.ts";
export { SymbolFinder } from "./finder.ts";
export { languageOf, type SymbolLanguage } from "./language.ts";
