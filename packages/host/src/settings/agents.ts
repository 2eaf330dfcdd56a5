import type { NamedAgent } from "@banyan/core";
import type { Settings } from "./schema.ts";

/** The agents of settings, that can be launched by name. */
export function agentsOf({ agents = {} }: Pick<Settings, "agents">): NamedAgent[] {
  return Object.entries(agents).map(([name, agent]) => ({ name, ...agent }));
}
