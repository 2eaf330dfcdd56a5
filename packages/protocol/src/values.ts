/** The protocol without its schemas, which load slowly: only the side that reads from the network checks frames. */

export { rightFor } from "./commands/rights.ts";
export * from "./shapes/bounds.ts";
export { KeptOutline } from "./shapes/kept-outline.ts";
export { messageSize, snapshotOf } from "./shapes/outline.ts";
export { PROTOCOL } from "./version.ts";
