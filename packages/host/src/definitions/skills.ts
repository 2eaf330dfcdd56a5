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

/** A folder with a `SKILL.md` and related files, which an agent reads when needed. */
export interface Skill {
  readonly name: string;
  /** Description that tells the model when to use the skill. */
  readonly description: string;
  readonly folder: string;
  readonly text: string;
}

// From https://agentskills.io/specification: lower-case letters, digits and dashes; at most 1,024 characters.
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

/** Reads the skills of some folders. */
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

/** Returns the tool `skill {name}`, which gives the agent the text of a skill. */
export function skillTool(skills: readonly Skill[]): Tool {
  const list = skills.map(({ name, description }) => `- ${name}: ${description}`).join("\n");
  return defineTool({
    name: "skill",
    description: `Reads a skill: instructions for a kind of work. Call this tool before you begin such work.\n${list}`,
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
