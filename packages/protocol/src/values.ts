/**
 * The protocol without its schemas, which load slowly. Only programs that read frames from the network need the
 * schemas.
 */

export { rightFor } from "./commands/rights.ts";
export * from "./shapes/approval-modes.ts";
export * from "./shapes/bounds.ts";
export { KeptOutline } from "./shapes/kept-outline.ts";
export { messageSize, snapshotOf } from "./shapes/outline.ts";
export { PROTOCOL } from "./version.ts";
