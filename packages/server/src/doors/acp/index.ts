export { type AcpDoorOptions, serveAcp } from "./door.ts";
export type {
  AcpPlace,
  EditorCommandOutcome,
  EditorCommandPlace,
  EditorCommands,
  OpenPlace,
  SessionLocation,
} from "./place.ts";
