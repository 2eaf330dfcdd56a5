import type { AgentOptions, ModelDriver, Tool } from "@banyan/core";
import type { LoopDriver } from "@banyan/core/drivers";
import { learntWindow, windowOf } from "@banyan/core/hosts";
import {
  type Environment,
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
import type { Worktrees } from "../worktrees/worktrees.ts";
import { agentNamed, otherAgent, otherAgentsModels, otherAgentsStatus, PROVIDER } from "./other-agents.ts";

/** For whom drivers are made. */
export interface DriversOptions {
  readonly settings: Settings;
  readonly env: Environment;
  readonly workspace: string;
  /** Finds the folder in which a branch of a conversation works. */
  readonly worktrees: Pick<Worktrees, "folderOf">;
  /** Where previous contents of the files that they change are kept. */
  readonly backups: string;
  readonly redact: Redact;
}

/** The name by which the provider knows a model, which a short name does not tell; nothing for what is not a driver. */
export function idOf(model: AgentOptions["model"]): string | undefined {
  return "id" in model ? String(model.id) : undefined;
}

/** Tokens of its context, where it is known or its server has told it. */
export function contextOf(model: AgentOptions["model"]): number | undefined {
  return "stream" in model ? windowOf(model) : undefined;
}

/** Milliseconds for which a turn waits until a server has told the context of its model: it may have to load the model. */
const PATIENCE = 20_000;

/** Resolves when the size of a model's context is known, or cannot be had in time. */
export async function contextKnown(model: AgentOptions["model"]): Promise<void> {
  if (!("learnContextSize" in model)) return;
  // In vain, the first response tells it, or the server says that it is not there.
  await model.learnContextSize?.(AbortSignal.timeout(PATIENCE)).catch(() => {});
}

/** Tools that one request to a model may offer; nothing where any number may, or nobody knows. */
export function maxToolsOf(model: AgentOptions["model"]): number | undefined {
  return "maxTools" in model ? model.maxTools : undefined;
}

/** Where models and agents are looked for. */
export type ModelsPlace = Pick<DriversOptions, "settings" | "env" | "workspace">;

/** Every provider, agents of other programs among them, and whether it can be used now. */
export async function providersHere(place: ModelsPlace): Promise<ProviderStatus[]> {
  return [...(await listProviders({ env: place.env })), otherAgentsStatus(place)];
}

/** The models of a provider that are known, with those that its server lists. Rejects with `ModelChoiceError`. */
export async function modelsHere(
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

/** What writes messages, by the names that people write: models of providers, and agents of other programs. */
export class Drivers {
  readonly #options: DriversOptions;
  /** Models that conversations and sub-agents have, by name. */
  readonly #known = new Map<string, Promise<ModelDriver | LoopDriver>>();
  readonly #brought = new WeakSet<Tool>();

  constructor(options: DriversOptions) {
    this.#options = options;
  }

  /**
   * Returns the model or agent that takes the turns of a conversation. An agent of another program works in the folder of the branch. Rejects with
   * `ModelChoiceError`.
   */
  of(name: string): Promise<ModelDriver | LoopDriver> {
    // It reads what the project says to agents by itself, and knows its own tools.
    return this.#kept(name, false);
  }

  /**
   * What takes the turns of a sub-agent; `isNamed` when a person chose it. A model that chooses one gets no agent of another
   * program, which works outside of the sandbox. Rejects with `ModelChoiceError`.
   */
  async forSubAgent(name: string, isNamed: boolean): Promise<ModelDriver | LoopDriver> {
    if (!isNamed && agentNamed(name, this.#options.settings) !== undefined) {
      throw new ModelChoiceError(
        "unknown-model",
        `${name} is another program, and only a person chooses one: launch an agent that is defined with it as its model, or choose another model.`,
      );
    }
    return this.#kept(name, true);
  }

  /** A model that is asked something beside the conversation. Rejects with `ModelChoiceError`. */
  model(name: string): Promise<ModelDriver> {
    const { env, settings } = this.#options;
    return resolveModel(name, { env, ...modelNames(settings) });
  }

  /** As `providersHere`. */
  providers(): Promise<ProviderStatus[]> {
    return providersHere(this.#options);
  }

  /** As `modelsHere`. */
  models(provider: string, listed?: readonly string[]): Promise<KnownModel[]> {
    return modelsHere(provider, this.#options, listed);
  }

  /** Whether calls of this tool run in another program, outside of the sandbox. */
  runsOutside(tool: Tool): boolean {
    return this.#brought.has(tool);
  }

  /** `instructions`: an agent of another program is told ours. */
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
      ...{ backups, instructions, patience: agentPatience(this.#options.settings) },
      cwd: ({ worktree, conversation }) => worktrees.folderOf(worktree, conversation),
    });
    return redactedLoop(loop, redact, (tool) => this.#brought.add(tool));
  }
}
