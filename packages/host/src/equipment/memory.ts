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

/** The user's memory and the agent's tools for it; nothing when the settings switch it off (B45). */
export function openMemory({
  places,
  workspace,
  settings,
  redact,
}: {
  readonly places: Directories;
  readonly workspace: string;
  readonly settings: Settings;
  readonly redact: Redact;
}): { readonly memory: ManagedMemory; readonly tools: readonly Tool[] } | undefined {
  if (settings.memory?.enabled === false) return undefined;
  const memory = sqliteMemory({ file: memoryFile(places), directory: workspace, redact });
  return { memory, tools: memoryTools(memory) };
}
