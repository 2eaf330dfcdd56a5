import type { AgentProgram } from "./connection/options.ts";

/** A widely used agent and the command that starts it. See {@link knownAgents}. */
export interface KnownAgent extends Pick<AgentProgram, "command" | "args"> {
  /** Product name for users. */
  readonly title: string;
  /** Shell command that installs the program. */
  readonly install: string;
  /** Environment variables that contain keys and addresses. The agent gets them although they are secrets. */
  readonly variables: readonly string[];
}

/**
 * Options of widely used agents. The keys are the names in model ids such as `acp/codex`.
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
