export { type AcpAgentOptions, type AgentProgram, acpAgent } from "./acp-agent.ts";
export { type KnownAgent, knownAgents } from "./known-agents.ts";
