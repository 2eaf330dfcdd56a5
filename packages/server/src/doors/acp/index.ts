export { type AcpDoorOptions, serveAcp } from "./door.ts";
export type {
  AcpWorkspace,
  AcpWorkspaceOpener,
  EditorCommandContext,
  EditorCommandOutcome,
  EditorCommands,
  SessionLocation,
} from "./workspace.ts";
