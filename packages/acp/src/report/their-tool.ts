import type { Tool } from "@banyan/core";
import type { TheirCall } from "./their-call.ts";

/** The tool of a call of an agent, as rules and hooks see it. `run` is what allowing the call does. */
export function theirTool(told: TheirCall, run: Partial<Tool> & Pick<Tool, "execute">): Tool {
  return {
    name: told.tool,
    description: told.title,
    input: { type: "object" },
    effects: told.effects,
    files: told.files,
    offeredBy: told.agent,
    asAsked: true,
    about: () => told.about,
    folder: () => told.folder,
    ...run,
  };
}
