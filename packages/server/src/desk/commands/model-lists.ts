import type { Host } from "@banyan/host";
import type { Result } from "@banyan/protocol";

type ModelList = Result<"model.list">;

/**
 * The models that can be chosen. To find them out takes a while and asks servers; whoever asks while that is under way
 * gets the same answer, so that many clients, or one that asks again and again, cost no more than one.
 */
export class ModelLists {
  readonly #host: Pick<Host, "listProviders" | "listModels">;
  readonly #asked = new Map<string | undefined, Promise<ModelList>>();

  constructor(host: Pick<Host, "listProviders" | "listModels">) {
    this.#host = host;
  }

  /** The providers and, when one is named, its models. Rejects with `ModelChoiceError`. */
  of(provider: string | undefined): Promise<ModelList> {
    const known = this.#asked.get(provider);
    if (known) return known;
    const asked = this.#list(provider).finally(() => this.#asked.delete(provider));
    this.#asked.set(provider, asked);
    return asked;
  }

  async #list(provider: string | undefined): Promise<ModelList> {
    if (provider === undefined) {
      const providers = await this.#host.listProviders();
      return { providers: providers.map((each) => ({ ...each })), models: [] };
    }
    // Whoever wants the models of all of them asks for each: the providers are found out once.
    const [{ providers }, models] = await Promise.all([this.of(undefined), this.#host.listModels(provider)]);
    return { providers, models: models.map((each) => ({ ...each })) };
  }
}
