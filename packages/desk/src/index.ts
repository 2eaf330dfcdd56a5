export type { ServedHost } from "./commands/workplace.ts";
export { Desk, type DeskOptions } from "./desk.ts";
export type { LinkOptions } from "./in-process-link.ts";
export { GUEST, type Only, OWNER, type Principal, type Shares, USER } from "./request/principal.ts";
