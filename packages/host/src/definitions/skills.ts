import { dirname } from "node:path";
import { defineTool, type Tool } from "@banyan/core";
import { nearestNameAdvice } from "@banyan/core/shown";
import { z } from "zod";
import type { SettingsFault } from "../settings/fault.ts";
import {
  type DefinitionFile,
  type DefinitionFolder,
  type Definitions,
  definitionsIn,
  type ReadDefinition,
  skillFiles,
} from "./definition-files.ts";
import { readFrontMatter } from "./front-matter.ts";

/** A skill: a folder with a `SKILL.md` and related files, which an agent reads when needed. */
export interface Skill {
  readonly name: string;
  /** When to use the skill, for the model. */
  readonly description: string;
  readonly folder: string;
  readonly text: string;
}

// By https://agentskills.io/specification: a name of lower-case letters, digits and dashes, a description of at most 1,024 characters.
const head = z.object({
  name: z
    .string({ error: "a name" })
    .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "lower-case letters, digits and dashes, at most 64")
    .optional(),
  description: z
    .string({ error: "a description of when to use the skill" })
    .min(1)
    .max(1024, "at most 1,024 characters"),
});

/** Reads folders of skills. */
export function readSkills(folders: readonly DefinitionFolder[]): Definitions<Skill> {
  return definitionsIn(folders, skillFiles, readSkill);
}

function readSkill({ name, path, content }: DefinitionFile): ReadDefinition<Skill> | SettingsFault {
  const read = readFrontMatter(path, content, head);
  if ("problem" in read) return read;
  const { description, name: own = name } = read.head;
  return { definition: { name: own, description, folder: dirname(path), text: read.text }, fault: read.fault };
}

const input = z.object({ name: z.string().describe("The name of a skill.") });

/** `skill {name}`: gives the agent the text of a skill. Until then the agent only knows its name and description. */
export function skillTool(skills: readonly Skill[]): Tool {
  const list = skills.map(({ name, description }) => `- ${name}: ${description}`).join("\n");
  return defineTool({
    name: "skill",
    description: `Reads a skill: how to do a certain kind of work here. Call it before you begin such work.\n${list}`,
    input,
    effects: "none",
    execute({ name }) {
      const skill = skills.find((known) => known.name === name);
      if (skill) return `${skill.text}\n\n(The files of this skill are in ${skill.folder}.)`;
      const names = skills.map((known) => known.name);
      throw new Error(`there is no skill '${name}'. ${nearestNameAdvice(name, names)}`);
    },
  });
}
