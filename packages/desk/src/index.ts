export { agentHost } from "./agent-host.ts";
export type { ServedHost } from "./commands/workplace.ts";
export { Desk, type DeskOptions } from "./desk.ts";
export type { LinkOptions } from "./in-process-link.ts";
export { GUEST, OWNER, type Principal, type ShareScope, type ShareStore, USER } from "./request/principal.ts";
