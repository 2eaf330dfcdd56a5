import { createHash } from "node:crypto";
import { Agent, type AgentOptions } from "@banyan/core";
import type { Hooks } from "../hooks/hooks.ts";
import { instructionsText } from "../instructions/instructions.ts";
import { lazyTokenCounter } from "../instructions/tokens.ts";
import { limitsOf, modelSettings, patienceOf } from "../settings/connection.ts";
import type { HostParts } from "./host-parts.ts";

/** The name of the agent, and of the program. */
export const AGENT = "banyan";

/** Services of the host that the agent uses while it works. */
interface HostCallbacks {
  /** Resolves the current model. If the user chooses another model, the next step uses it. */
  readonly modelNamed: NonNullable<AgentOptions["modelNamed"]>;
  readonly storeText: NonNullable<AgentOptions["storeText"]>;
  /** Judges calls. If the user adds a rule, it applies from the next call on. */
  readonly permission: NonNullable<AgentOptions["permission"]>;
  readonly hooks: Hooks;
}

/** Returns a name for the prompt cache of an agent's conversations in a workspace. The name is a digest (V5). */
function cacheKey(agent: string, workspace: string): string {
  return createHash("sha256").update(`${agent}\n${workspace}`).digest("hex").slice(0, 32);
}

/** Creates the agent for a host's conversations. The agent has no tools until the host is ready. */
export function hostAgent(parts: HostParts, { hooks, ...callbacks }: HostCallbacks): Agent {
  const { settings } = parts.configuration;
  const { enabled, ...compaction } = settings.compaction ?? {};
  return new Agent({
    ...callbacks,
    name: AGENT,
    model: parts.driver,
    fallbacks: settings.fallbacks,
    instructions: instructionsText(parts.instructions.parts),
    settings: { ...modelSettings(settings), cacheKey: cacheKey(AGENT, parts.workspace) },
    limits: limitsOf(settings),
    ...patienceOf(settings),
    callbacks: { onModelError: (error) => parts.log.modelError(error) },
    compaction: { ...compaction, automatic: enabled, count: lazyTokenCounter(parts.driver.id) },
    unattended: !parts.canAsk,
    hooks: hooks.calls,
    ...(settings.hooks?.Stop && { onTurn: hooks.onTurn }),
  });
}
