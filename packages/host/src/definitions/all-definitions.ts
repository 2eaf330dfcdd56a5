import { join } from "node:path";
import type { NamedAgent } from "@banyan/core";
import type { Directories } from "../directories.ts";
import type { ProjectPlaces } from "../project.ts";
import type { SettingsFault } from "../settings/fault.ts";
import { readAgents } from "./agents.ts";
import { type PromptCommand, readCommands } from "./commands.ts";
import { readSkills, type Skill } from "./skills.ts";

/** What Markdown files define, and what of them is wrong and left out. */
export interface AllDefinitions {
  readonly agents: readonly NamedAgent[];
  readonly commands: readonly PromptCommand[];
  readonly skills: readonly Skill[];
  readonly faults: readonly SettingsFault[];
}

/** Reads the agents, commands and skills of a user and, where one is given, of a project, whose own count more. */
export function readDefinitions({ config }: Pick<Directories, "config">, project?: ProjectPlaces): AllDefinitions {
  const folders = (kind: "agents" | "commands" | "skills") => [
    { path: join(config, kind) },
    ...(project ? [project[kind]].flat().map((path) => ({ path, within: project.root })) : []),
  ];
  const agents = readAgents(folders("agents"));
  const commands = readCommands(folders("commands"));
  const skills = readSkills(folders("skills"));
  return {
    agents: agents.found,
    commands: commands.found,
    skills: skills.found,
    faults: [...agents.faults, ...commands.faults, ...skills.faults],
  };
}
