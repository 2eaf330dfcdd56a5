export { conversationFile } from "./file-name.ts";
export { type SqliteStoreOptions, sqliteStore } from "./store.ts";
