import type { AcpAgentOptions } from "@banyan/acp";
import { type KnownAgent, knownAgents } from "@banyan/acp/known";
import type { LoopDriver } from "@banyan/core/drivers";
import { nearest } from "@banyan/core/shown";
import {
  type Effort,
  type Environment,
  type KnownModel,
  ModelChoiceError,
  type ProviderStatus,
  withoutEffort,
} from "@banyan/models";
import { findProgram, pathWithout } from "@banyan/tools/sandbox/find-program";
import { childEnvironment } from "@banyan/tools/workspace";
import type { Settings } from "../settings/index.ts";

/** What stands before the slash of the models that are agents of other programs. */
export const PROVIDER = "acp";

/** Whose agents, and where. */
export interface OtherAgentsPlace {
  readonly settings: Pick<Settings, "acpAgents" | "aliases">;
  readonly env: Environment;
  /** Programs in it are not started. */
  readonly workspace: string;
}

/** An agent as the settings, or the list of those that many have, describe it. */
interface Described {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /**
   * The variables that it gets besides those without secrets. Throws `ModelChoiceError` when one that it needs is not set.
   */
  env(): Readonly<Record<string, string | undefined>>;
  readonly install: string | undefined;
}

/** An agent that the name of a model means, and how much it is to think, where that is said. */
export interface AgentNamed {
  readonly name: string;
  readonly effort: Effort | undefined;
}

/** The agent that the name of a model means, short names included; nothing for every other model. */
export function agentNamed(model: string, { aliases = {} }: OtherAgentsPlace["settings"]): AgentNamed | undefined {
  const said = withoutEffort(model);
  const meant = Object.hasOwn(aliases, said.full) ? withoutEffort(aliases[said.full] ?? "") : said;
  if (!meant.full.startsWith(`${PROVIDER}/`)) return undefined;
  return { name: meant.full.slice(PROVIDER.length + 1), effort: said.effort ?? meant.effort };
}

/**
 * An agent of another program as what runs the turns: `acp/claude`. Nothing is started before its first turn. Rejects with
 * `ModelChoiceError` where there is no such agent, or its program is not installed.
 */
export async function otherAgent(
  named: AgentNamed,
  place: OtherAgentsPlace,
  options: Pick<AcpAgentOptions, "backups" | "cwd" | "instructions" | "patience">,
): Promise<LoopDriver> {
  const { name, command, args, install, env } = installedAgent(named, place);
  const own = { ...childEnvironment(place.env, env), PATH: pathOf(place) };
  // A user of providers' models alone does not load the protocol.
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

/** The agent of another program, with its variables. Throws `ModelChoiceError` where there is none, or its program is not installed. */
export function installedAgent({ name }: Pick<AgentNamed, "name">, place: OtherAgentsPlace) {
  const all = describedAgents(place);
  const agent = all.find((each) => each.name === name);
  if (!agent) {
    const names = all.map((each) => each.name);
    const [near] = nearest(name, names);
    const guess = near === undefined ? `There are: ${names.join(", ")}` : `Did you mean ${PROVIDER}/${near}`;
    throw new ModelChoiceError(
      "unknown-model",
      `There is no agent "${name}". ${guess}${near === undefined ? "." : "?"} Add others to your settings, under "acpAgents".`,
    );
  }
  const missing = whyMissing(agent, place);
  if (missing !== undefined) throw new ModelChoiceError("unknown-model", missing);
  return { ...agent, env: agent.env() };
}

/** The agents of other programs as a provider of models: which there are, and whether they can be used. */
export function otherAgentsStatus(place: OtherAgentsPlace): ProviderStatus {
  const all = describedAgents(place);
  const missing = all.map((agent) => whyMissing(agent, place));
  const models = all.filter((_, index) => missing[index] === undefined).map(({ name }) => `${PROVIDER}/${name}`);
  const [first] = missing.filter((sentence) => sentence !== undefined);
  return {
    name: PROVIDER,
    usable: models.length > 0,
    reason: models.length > 0 ? "Agents of other programs, which work with tools of their own." : (first ?? ""),
    known: all.length,
    models,
  };
}

/** What is known of them as of models: nothing but their names. */
export function otherAgentsModels(place: OtherAgentsPlace): KnownModel[] {
  return describedAgents(place).map(({ name }) => ({ name: `${PROVIDER}/${name}` }));
}

function describedAgents({ settings: { acpAgents = {} }, env }: OtherAgentsPlace): Described[] {
  const own = Object.entries(acpAgents).map(([name, { command, args = [], env: listed = {} }]): Described => {
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

/** Variables with `${NAME}` in them, which stands for a variable of the user's. */
function filledIn(agent: string, listed: Readonly<Record<string, string>>, env: Environment): Record<string, string> {
  const filled = Object.entries(listed).map(([name, text]) => {
    const value = text.replace(/\$\{([A-Za-z_]\w*)\}/g, (_, wanted: string) => {
      const found = env[wanted];
      if (found !== undefined) return found;
      throw new ModelChoiceError(
        "missing-key",
        `The agent "${agent}" needs the variable ${wanted}, as your settings say. Set it and start again.`,
      );
    });
    return [name, value] as const;
  });
  return Object.fromEntries(filled);
}

/**
 * Why a program cannot be started, as a sentence; nothing when it can. A program inside the workspace does not count (S16).
 */
function whyMissing({ name, command, install }: Described, place: OtherAgentsPlace): string | undefined {
  const { workspace } = place;
  const isPath = command.includes("/");
  const found = isPath ? command : findProgram(command, pathOf(place), [workspace]);
  if (found !== undefined) return undefined;
  const advice = install === undefined ? "Install it, or name it by its whole path." : `To install it: ${install}`;
  return `The agent ${PROVIDER}/${name} is not installed: there is no program "${command}". ${advice}`;
}

/** Where programs are looked for: not in the workspace, and not in relative folders. */
function pathOf({ workspace, env }: OtherAgentsPlace): string {
  return pathWithout([workspace], env.PATH ?? "");
}
