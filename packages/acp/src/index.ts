export { type AcpAgentOptions, type AgentProgram, acpAgent } from "./acp-agent.ts";
