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

/** Options of `Drivers`. */
export interface DriversOptions {
  readonly settings: Settings;
  readonly env: EnvironmentVariables;
  readonly workspace: string;
  readonly worktrees: Pick<Worktrees, "folderOf">;
  /** The folder with previous contents of changed files. */
  readonly backups: string;
  readonly redact: Redact;
}

/** Returns the id of a model; undefined for an object that is not a driver. */
export function driverModelId(model: AgentOptions["model"]): string | undefined {
  return "id" in model ? String(model.id) : undefined;
}

/** Returns the size of a model's context in tokens, if known. */
export function knownContextSize(model: AgentOptions["model"]): number | undefined {
  return "stream" in model ? windowOf(model) : undefined;
}

/** The server may have to load the model first. */
const PATIENCE = 20_000;

/** Waits until the context size of a model is known, for at most 20 seconds. */
export async function contextKnown(model: AgentOptions["model"]): Promise<void> {
  if (!("learnContextSize" in model)) return;
  // The first response has the size, or reports that the server is missing.
  await model.learnContextSize?.(AbortSignal.timeout(PATIENCE)).catch(() => {});
}

/** Returns the maximum number of tools in one request; undefined if there is no limit or none is known. */
export function maxToolsOf(model: AgentOptions["model"]): number | undefined {
  return "maxTools" in model ? model.maxTools : undefined;
}

/** The settings, the environment and the folder. They decide which models and agents exist. */
export type ModelsContext = Pick<DriversOptions, "settings" | "env" | "workspace">;

/** Lists the model providers and the agents of other programs, and whether each can be used now. */
export async function providersHere(context: ModelsContext): Promise<ProviderStatus[]> {
  return [...(await listProviders({ env: context.env })), otherAgentsStatus(context)];
}

/** Lists the models of a provider: known models and those that its server lists. Rejects with `ModelChoiceError`. */
export async function modelsOfProvider(
  provider: string,
  context: ModelsContext,
  listed?: readonly string[],
): Promise<KnownModel[]> {
  if (provider === PROVIDER) return otherAgentsModels(context);
  const { overrides } = modelNames(context.settings);
  const models = await listModels(provider, {
    env: context.env,
    ...(overrides && { overrides }),
    ...(listed && { listed }),
  });
  return models.map((model) => {
    const learnt = learntWindow(model.name);
    return learnt === undefined ? model : { ...model, contextSize: Math.min(learnt, model.contextSize ?? learnt) };
  });
}

/** Opens models and agents of other programs by name. */
export class Drivers {
  readonly #options: DriversOptions;
  readonly #known = new Map<string, Promise<ModelDriver | LoopDriver>>();
  readonly #brought = new WeakSet<Tool>();

  constructor(options: DriversOptions) {
    this.#options = options;
  }

  /** Returns a model, or an agent that works in the branch's folder. Rejects with `ModelChoiceError`. */
  of(name: string): Promise<ModelDriver | LoopDriver> {
    // Another program's agent reads the project's instructions itself.
    return this.#kept(name, false);
  }

  /**
   * Returns the driver of a sub-agent. `isNamed`: a user chose the model. Only a user may choose an agent of another
   * program, which works outside of the sandbox. Rejects with `ModelChoiceError`.
   */
  async forSubAgent(name: string, isNamed: boolean): Promise<ModelDriver | LoopDriver> {
    if (!isNamed && agentNamed(name, this.#options.settings) !== undefined) {
      throw new ModelChoiceError(
        "unknown-model",
        `${name} is an agent of another program, and only a user can choose it. Launch an agent whose definition names this model, or choose another model.`,
      );
    }
    return this.#kept(name, true);
  }

  /** Returns a model for requests outside conversations. Rejects with `ModelChoiceError`. */
  model(name: string): Promise<ModelDriver> {
    const { env, settings } = this.#options;
    return resolveModel(name, { env, ...modelNames(settings) });
  }

  providers(): Promise<ProviderStatus[]> {
    return providersHere(this.#options);
  }

  models(provider: string, listed?: readonly string[]): Promise<KnownModel[]> {
    return modelsOfProvider(provider, this.#options, listed);
  }

  /** Returns whether a tool's calls run in another program, outside of the sandbox. */
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
