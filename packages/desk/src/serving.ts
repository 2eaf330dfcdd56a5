// The parts of the desk that a server with sockets needs.
export { NAME } from "./desk.ts";
export {
  type ConversationActivity,
  type FeedSubscription,
  type FoundMessages,
  findMessages,
  type OtherNodes,
  type Watchable,
} from "./live/elsewhere.ts";
export { ClientFrame, type FeedViewer, itemForViewer } from "./live/frame.ts";
export type { LiveChats } from "./live/live-chats.ts";
export type { LiveConversation } from "./live/live-conversation.ts";
export type { LiveConversations } from "./live/live-conversations.ts";
export type { ClientConnection } from "./live/subscription.ts";
export { LINK_OVER, type Performer, refusalOf } from "./perform.ts";
export {
  type CommandOutcome,
  type DeskCommand,
  failsAs,
  hasBegun,
  isOfConnection,
  readClientCommand,
} from "./request/command.ts";
export { ShareError, sharePrincipal } from "./request/principal.ts";
export { clientProblem, NotThereError } from "./request/problem.ts";
export type { Seat } from "./seat.ts";
