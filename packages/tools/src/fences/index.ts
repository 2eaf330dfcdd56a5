export type { Fence, FenceListener } from "./parser.ts";
export { FenceParser } from "./parser.ts";
