export { type AcpDoorOptions, serveAcp } from "./door.ts";
export type { AcpPlace, CommandOutcome, CommandPlace, EditorCommands, OpenPlace, Where } from "./place.ts";
