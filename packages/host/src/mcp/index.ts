export type { McpServerState, McpServers, OpenAddress } from "@banyan/tools/mcp";
export { McpError, type McpServerEntry } from "@banyan/tools/mcp/entry";
export {
  addMcpServer,
  type ConfiguredServer,
  type ConfiguredServers,
  configuredServers,
  removeMcpServer,
  unknownServer,
} from "./configured-servers.ts";
export { type FirstTurnOptions, serversForFirstTurn, waitForServers } from "./first-turn-servers.ts";
export { type McpContext, type OpenServersOptions, openServers, signOutOfServer } from "./open.ts";
