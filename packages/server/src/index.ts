export { isLoopback } from "./auth/addresses.ts";
export { keptToken, tokenIn } from "./auth/kept-token.ts";
export { builtPage } from "./built-page.ts";
export * from "./desk/index.ts";
export { type RunningServer, type ServeOptions, serve } from "./server.ts";
