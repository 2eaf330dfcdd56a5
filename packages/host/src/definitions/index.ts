export { readAgents } from "./agents.ts";
export { type PromptCommand, promptOf, readCommands } from "./commands.ts";
export type { Definitions } from "./definition-files.ts";
export { readSkills, type Skill, skillTool } from "./skills.ts";
