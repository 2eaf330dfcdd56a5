import { join } from "node:path";
import type { Tool } from "@banyan/core";
import { type ManagedMemory, memoryTools, sqliteMemory } from "@banyan/memory";
import type { Directories } from "../directories.ts";
import type { Redact } from "../redaction/index.ts";
import type { Settings } from "../settings/index.ts";

/** Where a user's memory is. */
export function memoryFile(places: Directories): string {
  return join(places.data, "memory.sqlite");
}

/** Whose memory it is, and for whom it takes secrets out. */
export interface MemoryPlace {
  readonly places: Directories;
  /** The directory that is worked in. */
  readonly workspace: string;
  readonly redact: Redact;
}

/** The user's memory, for who looks after it: also there when the settings switch it off for agents. */
export function userMemory({ places, workspace, redact }: MemoryPlace): ManagedMemory {
  return sqliteMemory({ file: memoryFile(places), directory: workspace, redact });
}

/** The user's memory and the agent's tools for it; nothing when the settings switch it off (B45). */
export function openMemory({
  settings,
  ...place
}: MemoryPlace & { readonly settings: Settings }):
  | { readonly memory: ManagedMemory; readonly tools: readonly Tool[] }
  | undefined {
  if (settings.memory?.enabled === false) return undefined;
  const memory = userMemory(place);
  return { memory, tools: memoryTools(memory) };
}
