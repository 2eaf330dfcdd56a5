import type { NamedAgent } from "@banyan/core";
import { z } from "zod";
import type { SettingsFault } from "../settings/fault.ts";
import {
  type DefinitionFile,
  type DefinitionFolder,
  type Definitions,
  definitionsIn,
  markdownFiles,
} from "./definition-files.ts";
import { nameList, readFrontMatter } from "./front-matter.ts";

const head = z.object({
  name: z
    .string({ error: "a name" })
    .regex(/^[\w-]{1,64}$/, "letters, digits, '_' and '-', at most 64")
    .optional(),
  description: z.string({ error: "a description of what the agent is good for" }).min(1),
  model: z.string({ error: "the name of a model" }).optional(),
  tools: nameList.optional(),
});

/** Reads `NAME.md` files: front matter with description, model and tools; their text is the agent's instructions. */
export function readAgents(folders: readonly DefinitionFolder[]): Definitions<NamedAgent> {
  return definitionsIn(folders, markdownFiles, readAgent);
}

function readAgent({ name, path, content }: DefinitionFile): NamedAgent | SettingsFault {
  const read = readFrontMatter(path, content, head);
  if ("problem" in read) return read;
  if (read.text === "")
    return { source: path, problem: "it has no instructions", advice: "write them below the second line of dashes" };
  const { model, tools, ...rest } = read.head;
  // Other programs write `inherit` for the model of the launching agent.
  const own = model === undefined || model === "inherit" ? {} : { model };
  return {
    name: rest.name ?? name,
    description: rest.description,
    instructions: read.text,
    ...own,
    ...(tools ? { tools } : {}),
  };
}
