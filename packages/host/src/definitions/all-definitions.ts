import { join } from "node:path";
import type { NamedAgent } from "@banyan/core";
import type { Directories } from "../places/directories.ts";
import type { ProjectPaths } from "../places/project.ts";
import type { SettingsFault } from "../settings/fault.ts";
import { type AgentDefinition, readAgentFiles } from "./agents.ts";
import { type PromptCommand, readCommands } from "./commands.ts";
import { readSkills, type Skill } from "./skills.ts";

/** Agents, commands and skills from Markdown files, and the faults of unusable files. */
export interface AllDefinitions {
  readonly agents: readonly NamedAgent[];
  readonly commands: readonly PromptCommand[];
  readonly skills: readonly Skill[];
  readonly faults: readonly SettingsFault[];
  /** The names in agents' files, for `unknownInAgents`. */
  readonly written: readonly AgentDefinition[];
}

/** Reads the agents, commands and skills of a user and of a project. Those of the project take precedence. */
export function readDefinitions({ config }: Pick<Directories, "config">, project?: ProjectPaths): AllDefinitions {
  const folders = (kind: "agents" | "commands" | "skills") => [
    { path: join(config, kind) },
    ...(project ? [project[kind]].flat().map((path) => ({ path, within: project.root })) : []),
  ];
  const agents = readAgentFiles(folders("agents"));
  const commands = readCommands(folders("commands"));
  const skills = readSkills(folders("skills"));
  return {
    agents: agents.found.map((agent) => withSkills(agent, agents.written, skills.found)),
    commands: commands.found,
    skills: skills.found,
    faults: [...agents.faults, ...commands.faults, ...skills.faults],
    written: agents.written,
  };
}

/** Adds the texts of an agent's skills to its instructions. */
function withSkills(agent: NamedAgent, written: readonly AgentDefinition[], known: readonly Skill[]): NamedAgent {
  // The last file of a name counts.
  const wanted = written.findLast(({ name }) => name === agent.name)?.skills ?? [];
  const texts = wanted.flatMap((name) => known.filter((skill) => skill.name === name).map(({ text }) => text));
  return texts.length === 0 ? agent : { ...agent, instructions: [agent.instructions, ...texts].join("\n\n") };
}
