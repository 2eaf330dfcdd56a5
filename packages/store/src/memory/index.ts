export { forgetfulStore } from "./forgetful-store.ts";
export { memoryStore } from "./memory-store.ts";
