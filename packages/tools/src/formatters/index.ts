export { type FormatterKind, KNOWN_FORMATTERS } from "./formatter-table.ts";
export { type FormatterFailure, Formatters, type FormattersOptions } from "./formatters.ts";
