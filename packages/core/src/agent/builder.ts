import { OptionError } from "../conversation/option-names.ts";
import type { ModelSettings } from "../ports/model.ts";
import type { Tool } from "../ports/tool.ts";
import type { Limits } from "../run/limits.ts";
import type { Agent, AgentOptions } from "./agent.ts";

/**
 * Builder of an agent, with one setter per option of `AgentOptions`. Each setter returns a new builder, so partial
 * builders can be shared.
 */
export class AgentBuilder {
  readonly #make: (options: AgentOptions) => Agent;
  readonly #options: Partial<AgentOptions>;

  constructor(make: (options: AgentOptions) => Agent, options: Partial<AgentOptions> = {}) {
    this.#make = make;
    this.#options = options;
  }

  name(name: string): AgentBuilder {
    return this.#set({ name });
  }

  model(model: AgentOptions["model"]): AgentBuilder {
    return this.#set({ model });
  }

  instructions(instructions: string): AgentBuilder {
    return this.#set({ instructions });
  }

  /** Adds tools to the current ones. */
  tools(...tools: readonly Tool[]): AgentBuilder {
    return this.#set({ tools: [...(this.#options.tools ?? []), ...tools] });
  }

  /** Changes the given settings and keeps the others. */
  settings(settings: ModelSettings): AgentBuilder {
    return this.#set({ settings: { ...this.#options.settings, ...settings } });
  }

  /** Changes the given limits and keeps the others. */
  limits(limits: Limits): AgentBuilder {
    return this.#set({ limits: { ...this.#options.limits, ...limits } });
  }

  bounds(bounds: NonNullable<AgentOptions["bounds"]>): AgentBuilder {
    return this.#set({ bounds });
  }

  retry(retry: NonNullable<AgentOptions["retry"]>): AgentBuilder {
    return this.#set({ retry });
  }

  mode(mode: NonNullable<AgentOptions["mode"]>): AgentBuilder {
    return this.#set({ mode });
  }

  output(output: NonNullable<AgentOptions["output"]>): AgentBuilder {
    return this.#set({ output });
  }

  unattended(unattended = true): AgentBuilder {
    return this.#set({ unattended });
  }

  storeText(storeText: NonNullable<AgentOptions["storeText"]>): AgentBuilder {
    return this.#set({ storeText });
  }

  compaction(compaction: NonNullable<AgentOptions["compaction"]>): AgentBuilder {
    return this.#set({ compaction });
  }

  modelNamed(modelNamed: NonNullable<AgentOptions["modelNamed"]>): AgentBuilder {
    return this.#set({ modelNamed });
  }

  fallbacks(...fallbacks: readonly string[]): AgentBuilder {
    return this.#set({ fallbacks });
  }

  memory(memory: NonNullable<AgentOptions["memory"]>): AgentBuilder {
    return this.#set({ memory });
  }

  permission(permission: NonNullable<AgentOptions["permission"]>): AgentBuilder {
    return this.#set({ permission });
  }

  callsAtOnce(callsAtOnce: number): AgentBuilder {
    return this.#set({ callsAtOnce });
  }

  hooks(hooks: NonNullable<AgentOptions["hooks"]>): AgentBuilder {
    return this.#set({ hooks });
  }

  callbacks(callbacks: NonNullable<AgentOptions["callbacks"]>): AgentBuilder {
    return this.#set({ callbacks });
  }

  onTurn(onTurn: NonNullable<AgentOptions["onTurn"]>): AgentBuilder {
    return this.#set({ onTurn });
  }

  /** Throws `OptionError` if no model was set. */
  build(): Agent {
    const { model } = this.#options;
    if (!model) throw new OptionError("An agent needs a model: call .model(...) before .build().");
    return this.#make({ ...this.#options, model });
  }

  #set(options: Partial<AgentOptions>): AgentBuilder {
    return new AgentBuilder(this.#make, { ...this.#options, ...options });
  }
}
