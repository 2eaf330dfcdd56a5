export { isPostgresUrl } from "./address.ts";
export { type RedriveOptions, type Redriving, redrive } from "./redrive.ts";
export type { NodeEntry, OpenConversation, Owner, Shared, Waiting } from "./shared.ts";
export { type PostgresStore, type PostgresStoreOptions, postgresStore } from "./store.ts";
export { runsToGoOnWith, Takeover, type TakeoverOptions } from "./takeover.ts";
