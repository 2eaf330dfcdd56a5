/** The values of the protocol without its schemas, which take long to load: only the side that reads a network checks frames. */
export * from "./bounds.ts";
export { sizeOf, snapshotOf } from "./outline.ts";
export { rights } from "./rights.ts";
export { PROTOCOL } from "./version.ts";
