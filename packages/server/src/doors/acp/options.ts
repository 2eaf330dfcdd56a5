import type {
  SessionConfigOption,
  SessionConfigSelectGroup,
  SessionConfigSelectOption,
  SessionModeState,
} from "@agentclientprotocol/sdk/unstable";
import type { Client } from "@banyan/client";
import { efforts, withoutEffort } from "@banyan/host";
import { type ApprovalMode, approvalIn, offeredModes, type ServerSettings } from "@banyan/protocol";

const MODES: readonly { readonly id: ApprovalMode; readonly name: string; readonly description: string }[] = [
  { id: "plan", name: "Plan first", description: "Only reads until you approve a plan." },
  { id: "ask", name: "Ask before changes", description: "Asks before changes and commands." },
  { id: "edits", name: "Edit files freely", description: "Also edits files in this directory without asking." },
  {
    id: "sandbox",
    name: "Run in the sandbox",
    description:
      "Also runs commands in the sandbox without asking. Caches such as node_modules are rebuilt, not undone.",
  },
  {
    id: "all",
    name: "Run everything",
    description: "Runs everything in this conversation without asking, in a sandbox.",
  },
];

const USUAL = "usual";

/** The parts of a conversation that its options depend on. */
export interface OptionState {
  readonly id: string;
  readonly model: string | undefined;
}

/** An option that a user chose in an editor, as a change of the session's settings. */
export type EditorChoice =
  | { readonly mode: ApprovalMode }
  /** `provider/model`, with `:effort` if the user chose one. */
  | { readonly model: string };

/** The available models. Requests the list only once, because editors ask for it in each conversation. */
export class KnownModels {
  readonly #client: Client;
  #asked: Promise<void> | undefined;
  #groups: readonly SessionConfigSelectGroup[] = [];
  readonly #sizes = new Map<string, number>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** Resolves when the models are known, or cannot be listed. Never rejects. */
  known(): Promise<void> {
    this.#asked ??= this.#ask().catch(() => {
      // Without a list, only the current model is offered; `/model` still accepts any other.
    });
    return this.#asked;
  }

  get groups(): readonly SessionConfigSelectGroup[] {
    return this.#groups;
  }

  contextSize(model: string): number | undefined {
    return this.#sizes.get(withoutEffort(model).full);
  }

  async #ask(): Promise<void> {
    const { providers } = await this.#client.ask("model.list", {});
    const usable = providers.filter((provider) => provider.usable);
    const lists = await Promise.all(
      usable.map(async ({ name, defaultModel, models: listed }) => {
        const { models } = await this.#client.ask("model.list", { provider: name });
        for (const model of models) if (model.contextSize !== undefined) this.#sizes.set(model.name, model.contextSize);
        const names = listed ?? models.map((each) => each.name);
        const first = defaultModel === undefined ? [] : [defaultModel];
        return { group: name, name, options: [...new Set([...first, ...names])].map(optionNamed) };
      }),
    );
    this.#groups = lists.filter(({ options }) => options.length > 0);
  }
}

/** Returns the options of a conversation for an editor: approval mode, model and effort. */
export function configOptionsOf(
  conversation: OptionState,
  settings: ServerSettings,
  models: KnownModels,
): SessionConfigOption[] {
  const { full: name, effort } = withoutEffort(conversation.model ?? settings.model);
  const isListed = models.groups.some(({ options }) => options.some(({ value }) => value === name));
  const inUse = { group: "in-use", name: "In use", options: [optionNamed(name)] };
  return [
    {
      type: "select",
      id: "mode",
      name: "Approval",
      category: "mode",
      description: "Which calls run without asking.",
      currentValue: approvalIn(settings, conversation.id),
      options: editorModes(settings).map(({ id, ...mode }) => ({ value: id, ...mode })),
    },
    {
      type: "select",
      id: "model",
      name: "Model",
      category: "model",
      currentValue: name,
      options: isListed ? [...models.groups] : [inUse, ...models.groups],
    },
    {
      type: "select",
      id: "effort",
      name: "Effort",
      category: "thought_level",
      currentValue: effort ?? USUAL,
      description: "How much the model thinks before it answers, if it supports this.",
      options: [USUAL, ...efforts].map(optionNamed),
    },
  ];
}

/** Returns the approval modes, for editors that know only modes. */
export function modesOf(conversation: string, settings: ServerSettings): SessionModeState {
  return {
    currentModeId: approvalIn(settings, conversation),
    availableModes: editorModes(settings).map((mode) => ({ ...mode })),
  };
}

function editorModes(settings: ServerSettings): typeof MODES {
  const offered = offeredModes(settings);
  return MODES.filter(({ id }) => offered.includes(id));
}

/** Returns the setting to which a value of an option belongs. `undefined` for an unknown option or value. */
export function readEditorChoice(
  option: string,
  value: unknown,
  conversation: OptionState,
  settings: ServerSettings,
): EditorChoice | undefined {
  if (typeof value !== "string") return undefined;
  const { full: name, effort } = withoutEffort(conversation.model ?? settings.model);
  switch (option) {
    case "mode": {
      const mode = MODES.find(({ id }) => id === value);
      return mode && { mode: mode.id };
    }
    case "model":
      return {
        model: effort === undefined || withoutEffort(value).effort !== undefined ? value : `${value}:${effort}`,
      };
    case "effort":
      if (value === USUAL) return { model: name };
      return efforts.some((each) => each === value) ? { model: `${name}:${value}` } : undefined;
    default:
      return undefined;
  }
}

function optionNamed(value: string): SessionConfigSelectOption {
  return { value, name: value };
}
