import type { ModelDriver } from "@banyan/core";
import type { EmbeddingModel } from "@banyan/core/ai-sdk";
import type { WireBounds } from "../wire/bounds.ts";
import type { ProxyAddresses } from "../wire/pool.ts";

/** Names, address and environment variables of a provider. */
export interface ProviderFacts {
  /** The name of the provider: the part of its models' names before the first slash. */
  readonly name: string;
  /** The environment variable of the API key. */
  readonly keyVariable?: string;
  /** True if the provider refuses requests without a key. */
  readonly needsKey?: boolean;
  /** The environment variable of the address. */
  readonly addressVariable?: string;
  /**
   * The address. `{VARIABLE}` inserts an environment variable. If absent, the user sets the address. If empty, the
   * package knows it.
   */
  readonly address?: string;
  /** The path that is added to an address without a path, such as `http://127.0.0.1:11434`. */
  readonly path?: string;
  /** Further environment variables that the provider reads. */
  readonly variables?: readonly string[];
  /** Lists of variables. All variables of at least one list must be set. */
  readonly needsOneOf?: readonly (readonly string[])[];
  readonly defaultModel?: string;
  /** The provider's name in the price catalogue. Absent: prices are unknown, except for local models. */
  readonly catalogue?: string;
  /** True if the provider runs on the user's machine, so that responses cost nothing. */
  readonly local?: boolean;
  /** True if the provider is a demo of fixed rules, which costs nothing. */
  readonly isFree?: boolean;
}

/** A provider of models, with the functions that open its models. */
export interface Provider extends ProviderFacts {
  open(target: ModelTarget): Promise<ModelDriver>;
  /** Like `open`, but through the provider's AI SDK package. Only for providers with a driver of our own. */
  openPackage?(target: ModelTarget): Promise<ModelDriver>;
  /** Absent: the provider has no embedding models. */
  openEmbedding?(target: EmbeddingTarget): Promise<EmbeddingModel>;
}

/** A provider's address, key and other settings, read from the environment. */
export interface SetUp {
  /** The address without a trailing slash; empty if the provider needs no address. */
  readonly address: string;
  readonly apiKey: string | undefined;
  readonly proxy: ProxyAddresses | undefined;
  /** The caller's own `fetch` for all requests. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Values of the provider's further variables. */
  readonly variables: Readonly<Record<string, string>>;
}

/** A model of a provider, with all settings to open it. */
export interface ModelTarget extends SetUp, Pick<ModelDriver, "id" | "price" | "contextSize" | "settings"> {
  readonly model: string;
  readonly keyVariable: string | undefined;
  /** Media types of files that the model accepts in tool results. Empty: none. Absent: the format's default. */
  readonly takes?: readonly string[] | undefined;
  readonly bounds?: WireBounds | undefined;
  /** True if calls that the model writes as text count as calls. Only in the chat format. Default true. */
  readonly textCalls?: boolean | undefined;
}

/** An embedding model of a provider, with all settings to open it. */
export type EmbeddingTarget = SetUp & Pick<ModelTarget, "model">;
