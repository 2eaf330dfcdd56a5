export type { LinkOptions } from "./link.ts";
export { type Follower, RemoteConversation } from "./remote-conversation.ts";
export { RemoteError } from "./remote-error.ts";
export { type RemoteEvents, RemoteServer } from "./remote-server.ts";
