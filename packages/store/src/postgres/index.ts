export { isPostgresUrl } from "./address.ts";
export type { NodeEntry, Owner, Shared, Waiting } from "./shared.ts";
export { type PostgresStore, type PostgresStoreOptions, postgresStore } from "./store.ts";
