export type { Fence, FenceListener } from "./fence.ts";
export { FenceParser } from "./parser.ts";
