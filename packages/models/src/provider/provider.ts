import type { ModelDriver } from "@banyan/core";
import type { EmbeddingModel } from "@banyan/core/ai-sdk";
import type { WireBounds } from "../wire/bounds.ts";
import type { ProxyAddresses } from "../wire/pool.ts";

/** Description of a provider as plain data, with functions that open its models. */
export interface Provider {
  /** The prefix of its models, before the first slash. */
  readonly name: string;
  /** The environment variable with its API key. */
  readonly keyVariable?: string;
  /** The provider refuses requests without a key. */
  readonly needsKey?: boolean;
  /** The environment variable with its address. */
  readonly addressVariable?: string;
  /**
   * The default address; `{VARIABLE}` inserts another environment variable. Absent: the address variable is required.
   * Empty: the provider's package has a default.
   */
  readonly address?: string;
  /** The path that is added to an address without a path, such as `http://127.0.0.1:11434`. */
  readonly path?: string;
  /** Further environment variables that the provider reads. */
  readonly variables?: readonly string[];
  /** Lists of variables. All variables of at least one list must be set. */
  readonly needsOneOf?: readonly (readonly string[])[];
  /** The default model. */
  readonly defaultModel?: string;
  /** The provider's name in the price catalogue. Absent: its prices are unknown, unless it is local. */
  readonly catalogue?: string;
  /** Runs on the user's machine: its responses cost nothing. */
  readonly local?: boolean;
  /** Not a model but fixed rules: also free. */
  readonly isFree?: boolean;
  /** Loads the needed code and makes the driver. */
  open(target: ModelTarget): Promise<ModelDriver>;
  /** Like `open`, but through the provider's AI SDK package, if `open` makes a driver of our own. */
  openPackage?(target: ModelTarget): Promise<ModelDriver>;
  /** Opens an embedding model. Absent: the provider has no such models. */
  openEmbedding?(target: EmbeddingTarget): Promise<EmbeddingModel>;
}

/** A provider's settings in the environment. */
export interface SetUp {
  /** Without a trailing slash; empty if the provider needs no address. */
  readonly address: string;
  readonly apiKey: string | undefined;
  /** The proxies in the environment, if any. */
  readonly proxy: ProxyAddresses | undefined;
  /** The values of the provider's further variables that are set. */
  readonly variables: Readonly<Record<string, string>>;
}

/** One model of a provider, with all known facts. */
export interface ModelTarget extends SetUp, Pick<ModelDriver, "id" | "price" | "contextSize" | "settings"> {
  /** The provider's name of the model. */
  readonly model: string;
  readonly keyVariable: string | undefined;
  /** Media types of files that the model gets in tool results. Empty: none. Absent: those of its wire format. */
  readonly takes?: readonly string[] | undefined;
  readonly bounds?: WireBounds | undefined;
  /** In the chat format: whether calls that the model writes as text count as calls. Default true. */
  readonly textCalls?: boolean | undefined;
}

/** An embedding model, by its provider's name. */
export type EmbeddingTarget = SetUp & Pick<ModelTarget, "model">;
