export { MemoryError, type MemoryErrorCode } from "./error.ts";
export type { ManagedMemory, MemoryEntry, MemorySearchOptions, NewFact } from "./managed-memory.ts";
export { type SqliteMemoryOptions, sqliteMemory } from "./sqlite-memory.ts";
export { memoryTools } from "./tools.ts";
