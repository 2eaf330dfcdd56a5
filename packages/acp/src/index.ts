export { acpAgent } from "./acp-agent.ts";
export type { AcpAgentOptions, AgentProgram } from "./connection/options.ts";
export { type KnownAgent, knownAgents } from "./known-agents.ts";
