export { type ContextContent, type ContextPart, contextParts } from "./context-parts.ts";
export {
  gatherInstructions,
  type InstructionPart,
  type InstructionSources,
  type Instructions,
  instructionsText,
} from "./instructions.ts";
export { serverInstructions } from "./server-instructions.ts";
export { lazyTokenCounter } from "./tokens.ts";
