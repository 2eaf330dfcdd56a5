export { Client, type ClientEvents, type ConnectionState, type Input } from "./link/client.ts";
export type { Link, LinkEvents, OpenLink } from "./link/link.ts";
export { ClientError } from "./link/link.ts";
export { Mirror } from "./link/mirror.ts";
export type { OpenConversation, Tree } from "./link/tree.ts";
export { type Follower, type Standing, Watched } from "./link/watched.ts";
