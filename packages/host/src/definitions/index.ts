export { readAgents } from "./agents.ts";
export { type AllDefinitions, readDefinitions } from "./all-definitions.ts";
export { type PromptCommand, promptOf, readCommands } from "./commands.ts";
export { readSkills, type Skill, skillTool } from "./skills.ts";
