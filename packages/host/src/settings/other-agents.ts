import type { AcpAgentOptions } from "@banyan/acp";
import { type KnownAgent, knownAgents } from "@banyan/acp/known";
import type { LoopDriver } from "@banyan/core/drivers";
import { nearest } from "@banyan/core/shown";
import {
  type Effort,
  type EnvironmentVariables,
  type KnownModel,
  ModelChoiceError,
  type ProviderStatus,
  withoutEffort,
} from "@banyan/models";
import { findProgram, pathWithout } from "@banyan/tools/sandbox/find-program";
import { childEnvironment } from "@banyan/tools/workspace";
import type { Settings } from "./schema.ts";

/** The provider name of models that are agents of other programs. */
export const PROVIDER = "acp";

/** The settings, environment and folder for agents of other programs. */
export interface OtherAgentsContext {
  readonly settings: Pick<Settings, "acpAgents" | "aliases">;
  readonly env: EnvironmentVariables;
  /** The workspace. Programs in it are not started. */
  readonly workspace: string;
}

interface AgentDescription {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Returns additional variables. Throws `ModelChoiceError` if a required variable is missing. */
  env(): Readonly<Record<string, string | undefined>>;
  readonly install: string | undefined;
}

/** The agent and thinking effort in a model's name. */
export interface NamedOtherAgent {
  readonly name: string;
  readonly effort: Effort | undefined;
}

/** Returns the agent that a model's name means, also by a short name; undefined for any other model. */
export function agentNamed(
  model: string,
  { aliases = {} }: OtherAgentsContext["settings"],
): NamedOtherAgent | undefined {
  const said = withoutEffort(model);
  const meant = Object.hasOwn(aliases, said.full) ? withoutEffort(aliases[said.full] ?? "") : said;
  if (!meant.full.startsWith(`${PROVIDER}/`)) return undefined;
  return { name: meant.full.slice(PROVIDER.length + 1), effort: said.effort ?? meant.effort };
}

/**
 * Opens an agent of another program as a driver: `acp/claude`. Its program starts with the first turn. Rejects with
 * `ModelChoiceError` for an unknown agent or a missing program.
 */
export async function otherAgent(
  named: NamedOtherAgent,
  context: OtherAgentsContext,
  options: Pick<AcpAgentOptions, "backups" | "cwd" | "instructions" | "patience">,
): Promise<LoopDriver> {
  const { name, command, args, install, env } = installedAgent(named, context);
  const own = { ...childEnvironment(context.env, env), PATH: programSearchPath(context) };
  // Users without such agents need not load the protocol.
  const { acpAgent } = await import("@banyan/acp");
  return acpAgent({
    name,
    command,
    args,
    env: own,
    ...(install && { install }),
    effort: named.effort,
    ...options,
  });
}

/** Returns an installed agent with its variables. Throws `ModelChoiceError` for an unknown or missing agent. */
export function installedAgent({ name }: Pick<NamedOtherAgent, "name">, context: OtherAgentsContext) {
  const all = describedAgents(context);
  const agent = all.find((each) => each.name === name);
  if (!agent) {
    const names = all.map((each) => each.name);
    const [near] = nearest(name, names);
    const guess = near === undefined ? `The agents are: ${names.join(", ")}` : `Did you mean ${PROVIDER}/${near}`;
    throw new ModelChoiceError(
      "unknown-model",
      `There is no agent "${name}". ${guess}${near === undefined ? "." : "?"} Add others to your settings, under "acpAgents".`,
    );
  }
  const missing = whyMissing(agent, context);
  if (missing !== undefined) throw new ModelChoiceError("unknown-model", missing);
  return { ...agent, env: agent.env() };
}

/** Returns the agents of other programs as a provider, and whether they can be used. */
export function otherAgentsStatus(context: OtherAgentsContext): ProviderStatus {
  const all = describedAgents(context);
  const missing = all.map((agent) => whyMissing(agent, context));
  const models = all.filter((_, index) => missing[index] === undefined).map(({ name }) => `${PROVIDER}/${name}`);
  const [first] = missing.filter((sentence) => sentence !== undefined);
  return {
    name: PROVIDER,
    usable: models.length > 0,
    reason: models.length > 0 ? "Agents of other programs, which use their own tools." : (first ?? ""),
    known: all.length,
    models,
  };
}

/** Returns the agents of other programs as models. */
export function otherAgentsModels(context: OtherAgentsContext): KnownModel[] {
  return describedAgents(context).map(({ name }) => ({ name: `${PROVIDER}/${name}` }));
}

function describedAgents({ settings: { acpAgents = {} }, env }: OtherAgentsContext): AgentDescription[] {
  const own = Object.entries(acpAgents).map(([name, { command, args = [], env: listed = {} }]): AgentDescription => {
    return { name, command, args, env: () => filledIn(name, listed, env), install: undefined };
  });
  const known = Object.entries<KnownAgent>(knownAgents).flatMap(
    ([name, { command, args = [], install, variables }]) => {
      if (Object.hasOwn(acpAgents, name)) return [];
      return {
        name,
        command,
        args,
        env: () => Object.fromEntries(variables.map((variable) => [variable, env[variable]])),
        install,
      };
    },
  );
  return [...known, ...own];
}

/** Replaces `${NAME}` by the user's environment variable. */
function filledIn(
  agent: string,
  listed: Readonly<Record<string, string>>,
  env: EnvironmentVariables,
): Record<string, string> {
  const filled = Object.entries(listed).map(([name, text]) => {
    const value = text.replace(/\$\{([A-Za-z_]\w*)\}/g, (_, wanted: string) => {
      const found = env[wanted];
      if (found !== undefined) return found;
      throw new ModelChoiceError(
        "missing-key",
        `Your settings require the variable ${wanted} for the agent "${agent}". Set the variable and start again.`,
      );
    });
    return [name, value] as const;
  });
  return Object.fromEntries(filled);
}

/** Returns why a program cannot be started. A program inside the workspace does not count (S16). */
function whyMissing({ name, command, install }: AgentDescription, context: OtherAgentsContext): string | undefined {
  const { workspace } = context;
  const isPath = command.includes("/");
  const found = isPath ? command : findProgram(command, programSearchPath(context), [workspace]);
  if (found !== undefined) return undefined;
  const advice = install === undefined ? "Install the program, or give its full path." : `To install it: ${install}`;
  return `The agent ${PROVIDER}/${name} is not installed: there is no program "${command}". ${advice}`;
}

/** Without the workspace and relative folders. */
function programSearchPath({ workspace, env }: OtherAgentsContext): string {
  return pathWithout([workspace], env.PATH ?? "");
}
