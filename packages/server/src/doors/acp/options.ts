import type {
  SessionConfigOption,
  SessionConfigSelectGroup,
  SessionConfigSelectOption,
  SessionModeState,
} from "@agentclientprotocol/sdk/unstable";
import type { Client } from "@banyan/client";
import { efforts, withoutEffort } from "@banyan/host";
import { approvalIn, type ServerSettings } from "@banyan/protocol";

type ApprovalMode = ServerSettings["approval"];

/** What runs without asking, as an editor lists it. */
const MODES: readonly { readonly id: ApprovalMode; readonly name: string; readonly description: string }[] = [
  { id: "plan", name: "Plan first", description: "Only reads until you approve a plan." },
  { id: "ask", name: "Ask before changes", description: "Asks before changes and commands." },
  { id: "edits", name: "Edit files freely", description: "Also edits files in this directory without asking." },
  {
    id: "all",
    name: "Run everything",
    description: "Runs everything in this conversation without asking, in a sandbox.",
  },
];

/** As the model does when nobody says how much it is to think. */
const USUAL = "usual";

/** What of a conversation its options depend on. */
export interface OptionState {
  readonly id: string;
  readonly model: string | undefined;
}

/** A choice that a person made in an editor, as commands of the desk understand it. */
export type Chosen =
  | { readonly mode: ApprovalMode }
  /** `provider/model`, with an effort behind it if one is wanted. */
  | { readonly model: string };

/** The models that can be taken, asked for once: an editor lists them beside a conversation. */
export class KnownModels {
  readonly #client: Client;
  #asked: Promise<void> | undefined;
  #groups: readonly SessionConfigSelectGroup[] = [];
  readonly #sizes = new Map<string, number>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** Resolves when they are known, or cannot be had. Never rejects. */
  known(): Promise<void> {
    this.#asked ??= this.#ask().catch(() => {
      // Without a list the one in use stands alone in it; another one can still be named with `/model`.
    });
    return this.#asked;
  }

  get groups(): readonly SessionConfigSelectGroup[] {
    return this.#groups;
  }

  /** Tokens that the context of a model takes; nothing while that is unknown. */
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

/** What an editor lists beside a conversation: what runs without asking, the model, and how much it is to think. */
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
      ...{ type: "select", id: "mode", name: "Approval", category: "mode" },
      description: "Calls that run without asking.",
      currentValue: approvalIn(settings, conversation.id),
      options: MODES.map(({ id, ...mode }) => ({ value: id, ...mode })),
    },
    {
      ...{ type: "select", id: "model", name: "Model", category: "model", currentValue: name },
      options: isListed ? [...models.groups] : [inUse, ...models.groups],
    },
    {
      ...{ type: "select", id: "effort", name: "Effort", category: "thought_level", currentValue: effort ?? USUAL },
      description: "How much the model thinks before it answers, if it supports this.",
      options: [USUAL, ...efforts].map(optionNamed),
    },
  ];
}

/** The same for editors that know modes alone. */
export function modesOf(conversation: string, settings: ServerSettings): SessionModeState {
  return { currentModeId: approvalIn(settings, conversation), availableModes: MODES.map((mode) => ({ ...mode })) };
}

/** What a value chosen for an option means; nothing for an option or a value that is not offered. */
export function chosen(
  option: string,
  value: unknown,
  conversation: OptionState,
  settings: ServerSettings,
): Chosen | undefined {
  if (typeof value !== "string") return undefined;
  const { full: name, effort } = withoutEffort(conversation.model ?? settings.model);
  switch (option) {
    case "mode": {
      const mode = MODES.find(({ id }) => id === value);
      return mode && { mode: mode.id };
    }
    // Which models there are, the desk knows: it refuses others, with a sentence.
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
