import type { SymbolGrammar } from "../grammar.ts";
import type { SymbolLanguage } from "../language.ts";
import { go } from "./go.ts";
import { python } from "./python.ts";
import { rust } from "./rust.ts";
import { javascript, tsx, typescript } from "./typescript.ts";

export const grammars: Readonly<Record<SymbolLanguage, SymbolGrammar>> = {
  typescript,
  tsx,
  javascript,
  python,
  go,
  rust,
};
