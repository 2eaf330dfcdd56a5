export { type LanguageServerState, LanguageServers, type LanguageServersOptions } from "./language-servers.ts";
export { KNOWN_SERVERS, type ServerKind } from "./server-table.ts";
export { type SymbolToolsOptions, symbolTools } from "./symbol-tools.ts";
export { newProblemLines, type WorkspaceProblems, workspaceProblems } from "./workspace-problems.ts";
