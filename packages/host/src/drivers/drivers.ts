import type { AgentOptions, ModelDriver, Tool } from "@banyan/core";
import type { LoopDriver } from "@banyan/core/drivers";
import { learntWindow, windowOf } from "@banyan/core/hosts";
import {
  type EnvironmentVariables,
  type KnownModel,
  listModels,
  listProviders,
  ModelChoiceError,
  type ProviderStatus,
  resolveModel,
} from "@banyan/models";
import { redactedLoop } from "../redaction/redacted-loop.ts";
import type { Redact } from "../redaction/redactor.ts";
import { agentPatience, modelNames } from "../settings/connection.ts";
import type { Settings } from "../settings/index.ts";
import { agentNamed, otherAgent, otherAgentsModels, otherAgentsStatus, PROVIDER } from "../settings/other-agents.ts";
import type { Worktrees } from "../worktrees/worktrees.ts";

/** The options of drivers. */
export interface DriversOptions {
  readonly settings: Settings;
  readonly env: EnvironmentVariables;
  readonly workspace: string;
  /** Finds the folder in which a branch of a conversation works. */
  readonly worktrees: Pick<Worktrees, "folderOf">;
  /** The folder with previous contents of changed files. */
  readonly backups: string;
  readonly redact: Redact;
}

/** The provider's id of a model, in place of a short name; undefined for an object that is not a driver. */
export function driverModelId(model: AgentOptions["model"]): string | undefined {
  return "id" in model ? String(model.id) : undefined;
}

/** Tokens of the model's context, if known or reported by its server. */
export function knownContextSize(model: AgentOptions["model"]): number | undefined {
  return "stream" in model ? windowOf(model) : undefined;
}

/** Maximum milliseconds that a turn waits for the model's context size. The server may have to load the model first. */
const PATIENCE = 20_000;

/** Resolves when the size of a model's context is known, or unavailable in time. */
export async function contextKnown(model: AgentOptions["model"]): Promise<void> {
  if (!("learnContextSize" in model)) return;
  // After a failure, the first response has the size, or reports that the server is missing.
  await model.learnContextSize?.(AbortSignal.timeout(PATIENCE)).catch(() => {});
}

/** Maximum tools in one request; undefined for no limit or an unknown limit. */
export function maxToolsOf(model: AgentOptions["model"]): number | undefined {
  return "maxTools" in model ? model.maxTools : undefined;
}

/** The settings, environment and folder that decide which models and agents exist. */
export type ModelsPlace = Pick<DriversOptions, "settings" | "env" | "workspace">;

/** Lists every provider, with agents of other programs, and whether it can be used now. */
export async function providersHere(place: ModelsPlace): Promise<ProviderStatus[]> {
  return [...(await listProviders({ env: place.env })), otherAgentsStatus(place)];
}

/** The known models of a provider, and those that its server lists. Rejects with `ModelChoiceError`. */
export async function modelsOfProvider(
  provider: string,
  place: ModelsPlace,
  listed?: readonly string[],
): Promise<KnownModel[]> {
  if (provider === PROVIDER) return otherAgentsModels(place);
  const { overrides } = modelNames(place.settings);
  const models = await listModels(provider, {
    env: place.env,
    ...(overrides && { overrides }),
    ...(listed && { listed }),
  });
  return models.map((model) => {
    const learnt = learntWindow(model.name);
    return learnt === undefined ? model : { ...model, contextSize: Math.min(learnt, model.contextSize ?? learnt) };
  });
}

/** Opens models of providers and agents of other programs by name. */
export class Drivers {
  readonly #options: DriversOptions;
  /** Models of conversations and sub-agents, by name. */
  readonly #known = new Map<string, Promise<ModelDriver | LoopDriver>>();
  readonly #brought = new WeakSet<Tool>();

  constructor(options: DriversOptions) {
    this.#options = options;
  }

  /**
   * Returns the model or agent for a conversation's turns. An agent of another program works in the folder of the branch. Rejects
   * with `ModelChoiceError`.
   */
  of(name: string): Promise<ModelDriver | LoopDriver> {
    // Another program's agent reads the project's instructions itself and knows its own tools.
    return this.#kept(name, false);
  }

  /**
   * Returns the driver of a sub-agent; `isNamed`: a user chose it. A model cannot choose an agent of another program, which works
   * outside of the sandbox. Rejects with `ModelChoiceError`.
   */
  async forSubAgent(name: string, isNamed: boolean): Promise<ModelDriver | LoopDriver> {
    if (!isNamed && agentNamed(name, this.#options.settings) !== undefined) {
      throw new ModelChoiceError(
        "unknown-model",
        `${name} is another program, which only a user can choose: launch an agent defined with it as its model, or choose another model.`,
      );
    }
    return this.#kept(name, true);
  }

  /** A model for requests outside the conversation. Rejects with `ModelChoiceError`. */
  model(name: string): Promise<ModelDriver> {
    const { env, settings } = this.#options;
    return resolveModel(name, { env, ...modelNames(settings) });
  }

  /** As `providersHere`. */
  providers(): Promise<ProviderStatus[]> {
    return providersHere(this.#options);
  }

  /** As `modelsOfProvider`. */
  models(provider: string, listed?: readonly string[]): Promise<KnownModel[]> {
    return modelsOfProvider(provider, this.#options, listed);
  }

  /** Returns whether calls of this tool run in another program, outside of the sandbox. */
  runsOutside(tool: Tool): boolean {
    return this.#brought.has(tool);
  }

  /** `instructions`: whether an agent of another program gets our instructions. */
  #kept(name: string, instructions: boolean): Promise<ModelDriver | LoopDriver> {
    const key = `${instructions} ${name}`;
    let driver = this.#known.get(key);
    if (!driver) {
      driver = this.#made(name, instructions);
      this.#known.set(key, driver);
      driver.catch(() => this.#known.delete(key));
    }
    return driver;
  }

  async #made(name: string, instructions: boolean): Promise<ModelDriver | LoopDriver> {
    const agent = agentNamed(name, this.#options.settings);
    if (agent === undefined) return this.model(name);
    const { backups, redact, worktrees } = this.#options;
    const loop = await otherAgent(agent, this.#options, {
      backups,
      instructions,
      patience: agentPatience(this.#options.settings),
      cwd: ({ worktree, conversation }) => worktrees.folderOf(worktree, conversation),
    });
    return redactedLoop(loop, redact, (tool) => this.#brought.add(tool));
  }
}
