export { isPostgresUrl } from "./address.ts";
export { type RedriveOptions, type RedriveService, redrive } from "./redrive.ts";
export type {
  ConversationOwner,
  ForwardedCommand,
  LeasedConversation,
  NodeEntry,
  SharedDatabase,
} from "./shared-database.ts";
export { type PostgresStore, type PostgresStoreOptions, postgresStore } from "./store.ts";
export { runsToGoOnWith, Takeover, type TakeoverOptions } from "./takeover.ts";
