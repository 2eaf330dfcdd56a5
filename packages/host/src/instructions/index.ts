export { type ContextContent, type ContextPart, contextParts } from "./context-parts.ts";
export {
  gatherInstructions,
  type InstructionPart,
  type InstructionSources,
  type Instructions,
  instructionsText,
  serverInstructions,
} from "./instructions.ts";
export { lazyTokenCounter } from "./tokens.ts";
