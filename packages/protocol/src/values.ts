/** The protocol without its schemas, which load slowly: only the side that reads from the network checks frames. */
export * from "./bounds.ts";
export { sizeOf, snapshotOf } from "./outline.ts";
export { rights } from "./rights.ts";
export { PROTOCOL } from "./version.ts";
