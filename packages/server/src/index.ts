export { isLoopback } from "./auth/addresses.ts";
export { keptToken, tokenIn } from "./auth/kept-token.ts";
export { builtPage } from "./built-page.ts";
export type { ServedHost } from "./desk/commands/workplace.ts";
export { Desk, type DeskOptions } from "./desk/desk.ts";
export { GUEST, OWNER, type Principal } from "./desk/principal.ts";
export { type RunningServer, type ServeOptions, serve } from "./server.ts";
