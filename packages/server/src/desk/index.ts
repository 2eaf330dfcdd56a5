export type { Shares } from "./commands/shares.ts";
export type { ServedHost } from "./commands/workplace.ts";
export { Desk, type DeskOptions } from "./desk.ts";
export type { LinkOptions } from "./in-process-link.ts";
export { GUEST, type Only, OWNER, type Principal, USER } from "./principal.ts";
