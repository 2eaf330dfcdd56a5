import type { ModelDriver } from "@banyan/core";
import type { EmbeddingModel } from "@banyan/core/ai-sdk";
import type { WireBounds } from "./wire/bounds.ts";
import type { ProxyAddresses } from "./wire/pool.ts";

/** Where the models of a provider are, as plain data, and how to open one. */
export interface Provider {
  /** What stands before the first slash of a name. */
  readonly name: string;
  /** The environment variable of its key. */
  readonly keyVariable?: string;
  /** It does not answer without a key. */
  readonly needsKey?: boolean;
  /** The environment variable of its address. */
  readonly addressVariable?: string;
  /**
   * Its address when the variable is not set; `{VARIABLE}` stands for another variable of the environment. Without an
   * address, the variable must be set; with an empty one, the provider's package knows it.
   */
  readonly address?: string;
  /** What an address gets that has no path of its own, as in `http://127.0.0.1:11434`. */
  readonly path?: string;
  /** Further variables that it reads. */
  readonly variables?: readonly string[];
  /** Lists of variables, of which one must be set as a whole. */
  readonly needsOneOf?: readonly (readonly string[])[];
  /** The model that is taken when nobody chose one. */
  readonly defaultModel?: string;
  /** What the price catalogue calls it. Absent: its prices are unknown, unless it is local. */
  readonly catalogue?: string;
  /** Runs on a machine of the user's: its answers cost nothing. */
  readonly local?: boolean;
  /** It is no model but rules, and costs nothing either. */
  readonly isFree?: boolean;
  /** Loads what it needs and makes the driver. */
  open(target: Target): Promise<ModelDriver>;
  /** The same through the provider's package, where `open` makes a driver of our own. */
  openPackage?(target: Target): Promise<ModelDriver>;
  /** The same for what makes vectors of texts. Absent: it has no such models. */
  openEmbedding?(target: EmbeddingTarget): Promise<EmbeddingModel>;
}

/** What the environment says about a provider. */
export interface SetUp {
  /** Without a slash at its end; empty where the provider needs none. */
  readonly address: string;
  readonly apiKey: string | undefined;
  /** The proxies that the environment names, if any. */
  readonly proxy: ProxyAddresses | undefined;
  /** The further variables of the provider that are set. */
  readonly variables: Readonly<Record<string, string>>;
}

/** One model of a provider, with everything that is known of it. */
export interface Target extends SetUp, Pick<ModelDriver, "id" | "price" | "contextSize" | "settings"> {
  /** The model as the provider calls it. */
  readonly model: string;
  readonly keyVariable: string | undefined;
  /** Media types of the files that it is shown with results of calls; none when empty, what its format has when absent. */
  readonly takes?: readonly string[] | undefined;
  readonly bounds?: WireBounds | undefined;
  /** Whether calls count that the model writes as text, in the chat format; they do when absent. */
  readonly textCalls?: boolean | undefined;
}

/** One embedding model of a provider, as the provider calls it. */
export type EmbeddingTarget = SetUp & Pick<Target, "model">;
