import type { AgentProgram } from "./acp-agent.ts";

/** An agent that many have, and how it is started. */
export interface KnownAgent extends Pick<AgentProgram, "command" | "args"> {
  /** How people call it. */
  readonly title: string;
  /** The command that gets it. */
  readonly install: string;
  /** Variables that it takes its keys and addresses from: it gets them though they hold secrets. */
  readonly variables: readonly string[];
}

/**
 * Agents by the names that stand behind `acp/`.
 * @example
 * const codex = acpAgent({ name: "codex", ...knownAgents.codex });
 */
export const knownAgents = {
  claude: {
    title: "Claude Code",
    command: "claude-agent-acp",
    args: [],
    install: "npm install --global @agentclientprotocol/claude-agent-acp",
    variables: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN"],
  },
  codex: {
    title: "Codex",
    command: "codex-acp",
    args: [],
    install: "npm install --global @agentclientprotocol/codex-acp",
    variables: ["OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL"],
  },
  gemini: {
    title: "Gemini CLI",
    command: "gemini",
    args: ["--acp"],
    install: "npm install --global @google/gemini-cli",
    variables: ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"],
  },
} as const satisfies Readonly<Record<string, KnownAgent>>;
