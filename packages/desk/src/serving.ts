// What a server needs of the desk that it puts its sockets before.
export { NAME } from "./desk.ts";
export type { Activity, Elsewhere, Watchable, Watching } from "./live/elsewhere.ts";
export { Frame, shownTo, type Viewer } from "./live/frame.ts";
export type { LiveChats } from "./live/live-chats.ts";
export type { LiveConversation } from "./live/live-conversation.ts";
export type { LiveConversations } from "./live/live-conversations.ts";
export type { Line } from "./live/subscription.ts";
export { LINK_OVER, type Performer, refusalOf } from "./perform.ts";
export {
  type DeskCommand,
  failsAs,
  hasBegun,
  isOfConnection,
  type Outcome,
  readCommand,
} from "./request/command.ts";
export { ShareError, shownOnly } from "./request/principal.ts";
export { NotThere, problemOf } from "./request/problem.ts";
export type { Seat } from "./seat.ts";
