/**
 * What a desk needs of the protocol, without its schemas, which take long to load: what comes over a network is checked
 * where it comes in.
 */
export { sizeOf, snapshotOf } from "./outline.ts";
export { rights } from "./rights.ts";
export { PROTOCOL } from "./version.ts";
