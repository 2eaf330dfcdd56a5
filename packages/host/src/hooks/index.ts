export { type HookEntries, hookEntries, hookEvents } from "./entries.ts";
export { Hooks } from "./hooks.ts";
