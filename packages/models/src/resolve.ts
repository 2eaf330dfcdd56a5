import { type ModelDriver, nearest } from "@banyan/core";
import { lookUp, type ModelFacts } from "./catalogue.ts";
import { ModelChoiceError } from "./choice-error.ts";
import { type Environment, readVariable } from "./environment.ts";
import type { Provider, Target } from "./provider.ts";
import { providers } from "./providers.ts";

/** Drivers by what they were made of, for as long as their environment lives: some are costly to make. */
const opened = new WeakMap<Environment, Map<string, Promise<ModelDriver>>>();

/**
 * The driver of a model by its name, `provider/model`; the model's own name may hold slashes and colons.
 *
 * Keys and addresses come from `env`. Nothing is sent: whether the model exists shows with its first answer. Asked
 * again with the same environment, it gives the same driver. Rejects with `ModelChoiceError`.
 */
export async function resolveModel(name: string, options: { readonly env: Environment }): Promise<ModelDriver> {
  const { provider, model } = parse(name);
  const address = addressOf(provider, options.env);
  const apiKey = keyOf(provider, options.env);

  let drivers = opened.get(options.env);
  if (!drivers) {
    drivers = new Map();
    opened.set(options.env, drivers);
  }
  const made = JSON.stringify([name, address, apiKey]);
  let driver = drivers.get(made);
  if (!driver) {
    driver = open(provider, { id: name, model, address, apiKey, keyVariable: provider.keyVariable });
    drivers.set(made, driver);
    driver.catch(() => drivers.delete(made));
  }
  return driver;
}

async function open(provider: Provider, target: Target): Promise<ModelDriver> {
  return provider.open({ ...target, ...(await factsOf(provider, target.model)) });
}

async function factsOf(provider: Provider, model: string): Promise<ModelFacts> {
  if (provider.local) return { price: { input: 0, output: 0 } };
  return provider.catalogue === undefined ? {} : lookUp(provider.catalogue, model);
}

function parse(name: string): { provider: Provider; model: string } {
  const slash = name.indexOf("/");
  const first = slash === -1 ? name : name.slice(0, slash);
  const model = slash === -1 ? "" : name.slice(slash + 1);
  const provider = providers.find((candidate) => candidate.name === first);
  if (provider && model !== "") {
    if (provider.name !== "demo" || model === "offline") return { provider, model };
    throw new ModelChoiceError("unknown-model", `There is no model "${name}". The demo has one model: demo/offline.`);
  }
  if (provider) {
    const example = `${first}/${first === "demo" ? "offline" : (provider.defaultModel ?? "<model>")}`;
    throw new ModelChoiceError(
      "malformed-name",
      `"${name}" does not say which model of ${first}. Write provider/model, as in ${example}.`,
    );
  }
  if (model === "" || first === "") {
    throw new ModelChoiceError(
      "malformed-name",
      `"${name}" is not the name of a model. Write provider/model, as in anthropic/claude-sonnet-5, with one of these providers: ${names().join(", ")}.`,
    );
  }
  const near = nearest(first, names());
  const guess =
    near.length === 0 ? "" : ` Did you mean ${near.map((candidate) => `${candidate}/${model}`).join(" or ")}?`;
  throw new ModelChoiceError(
    "unknown-provider",
    `There is no provider "${first}".${guess} Write provider/model, with one of these providers: ${names().join(", ")}.`,
  );
}

function addressOf(provider: Provider, env: Environment): string {
  const variable = provider.addressVariable;
  const given = variable === undefined ? undefined : readVariable(env, variable);
  const address = given ?? provider.address;
  if (address === undefined) {
    if (variable === undefined) return "";
    throw new ModelChoiceError(
      "missing-address",
      `${provider.name} needs the address of its server. Set ${variable}, for example to http://127.0.0.1:8080/v1.`,
    );
  }
  if (!/^https?:\/\//.test(address) || !URL.canParse(address)) {
    throw new ModelChoiceError(
      "malformed-address",
      `"${address}" in ${variable} is not an address. Write it like http://127.0.0.1:8080/v1.`,
    );
  }
  return address.replace(/\/+$/, "");
}

function keyOf(provider: Provider, env: Environment): string | undefined {
  if (provider.keyVariable === undefined) return undefined;
  const key = readVariable(env, provider.keyVariable);
  if (key === undefined && provider.needsKey) {
    throw new ModelChoiceError("missing-key", `${provider.name} needs a key. Set ${provider.keyVariable} to yours.`);
  }
  return key;
}

function names(): string[] {
  return providers.map((provider) => provider.name);
}
