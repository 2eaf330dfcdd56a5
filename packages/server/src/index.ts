export type { CommandOutcome } from "@banyan/desk/serving";
export { isLoopbackAddress } from "./auth/addresses.ts";
export type { Authorization } from "./auth/authorization.ts";
export { keptToken, tokenInFile } from "./auth/secret.ts";
export { builtPage } from "./built-page.ts";
export type { DrivenNode, Driver, DriverPosition, LogStep, NodeCommand } from "./cluster/driver.ts";
export type {
  AgUiEvent,
  AgUiInterrupt,
  AgUiMessage,
  AgUiOutcome,
  AgUiPart,
  AgUiPatch,
  AgUiUsage,
} from "./doors/ag-ui/event.ts";
export { type AgUiOptions, agUiEvents } from "./doors/ag-ui/feed.ts";
export type { AgUiRun } from "./doors/ag-ui/turn.ts";
export type { UiChunk, UiFile, UiMetadata, UiPart, UiQuestion } from "./doors/ui-messages/chunk.ts";
export { uiMessageChunks } from "./doors/ui-messages/turn.ts";
export { type AgentHandler, type HandlerOptions, handler } from "./handler.ts";
export { type RunningServer, type ServeAgentOptions, type ServeOptions, serve } from "./server.ts";
