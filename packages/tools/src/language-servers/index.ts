export { LanguageServers, type LanguageServersOptions } from "./language-servers.ts";
export { KNOWN_SERVERS, type ServerKind } from "./server-table.ts";
export { symbolTools, type SymbolToolsOptions } from "./symbol-tools.ts";
