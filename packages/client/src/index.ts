export { Client, type ClientEvents, type CommandValues, type ConnectionState } from "./link/client.ts";
export { conversationPages } from "./link/conversation-pages.ts";
export type { Link, LinkEvents, OpenLink } from "./link/link.ts";
export { ClientError } from "./link/link.ts";
export { Mirror } from "./link/mirror.ts";
export type { LocalConversation, Tree } from "./link/tree.ts";
export { type ConversationFollower, WatchedConversation, type WatchState } from "./link/watched-conversation.ts";
