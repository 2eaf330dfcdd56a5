export { type SqliteStoreOptions, sqliteStore } from "./store.ts";
