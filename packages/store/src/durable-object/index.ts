export type { DurableStorage } from "./database.ts";
export { durableObjectStore } from "./store.ts";
