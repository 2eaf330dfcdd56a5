export { sqliteStore } from "./store.ts";
