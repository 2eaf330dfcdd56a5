export { type FormatterKind, KNOWN_FORMATTERS } from "./formatter-table.ts";
export { Formatters, type FormattersOptions } from "./formatters.ts";
