import type { ModelDriver } from "@banyan/core";

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
  /** Its address when the variable is not set; without one, the variable must be set. */
  readonly address?: string;
  /** The model that is taken when nobody chose one. */
  readonly defaultModel?: string;
  /** What the price catalogue calls it. Absent: its prices are unknown, unless it is local. */
  readonly catalogue?: string;
  /** Runs on a machine of the user's: its answers cost nothing. */
  readonly local?: boolean;
  /** Loads what it needs and makes the driver. */
  open(target: Target): Promise<ModelDriver>;
}

/** One model of a provider, with everything that the environment says about it. */
export interface Target extends Pick<ModelDriver, "id" | "price" | "contextSize"> {
  /** The model as the provider calls it. */
  readonly model: string;
  /** Without a slash at its end; empty for a provider without an address. */
  readonly address: string;
  readonly apiKey: string | undefined;
  readonly keyVariable: string | undefined;
}
