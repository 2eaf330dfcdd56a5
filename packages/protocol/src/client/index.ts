export { Client, type ClientEvents, type ConnectionState, type Input } from "./client.ts";
export type { Link, LinkEvents, OpenLink } from "./link.ts";
export { ClientError } from "./link.ts";
export type { OpenConversation, Tree } from "./tree.ts";
export { type Follower, type Standing, Watched } from "./watched.ts";
