import { isNode, type ProxyAddresses } from "../wire/pool.ts";
import { type EnvironmentVariables, readVariable } from "./environment.ts";
import { ModelChoiceError } from "./model-choice-error.ts";
import type { ProviderFacts, SetUp } from "./provider.ts";

/**
 * Reads a provider's settings from the environment. Throws `ModelChoiceError` for a missing or wrong variable.
 * `hasOptions`: whether the caller could also pass `apiKey` and `baseURL`, which the error then names.
 */
export function setUpOf(provider: ProviderFacts, env: EnvironmentVariables, hasOptions = false): SetUp {
  const variables: Record<string, string> = {};
  for (const variable of provider.variables ?? []) {
    const value = readVariable(env, variable);
    if (value !== undefined) variables[variable] = value;
  }
  return {
    address: providerAddress(provider, env, hasOptions),
    apiKey: providerKey(provider, env, hasOptions),
    proxy: proxyOf(env),
    variables,
  };
}

/** Returns a provider's address without a trailing slash. Throws `ModelChoiceError`. */
export function providerAddress(provider: ProviderFacts, env: EnvironmentVariables, hasOptions = false): string {
  const variable = provider.addressVariable;
  const given = variable === undefined ? undefined : readVariable(env, variable);
  const address = given ?? filledAddress(provider, env, hasOptions ? ", or pass baseURL" : "");
  if (address === "") return "";
  if (!/^https?:\/\//.test(address) || !URL.canParse(address)) {
    throw new ModelChoiceError(
      "malformed-address",
      `"${address}" in ${variable} is not an address. Write it like http://127.0.0.1:8080/v1.`,
    );
  }
  const bare = address.replace(/\/+$/, "");
  return new URL(bare).pathname === "/" ? `${bare}${provider.path ?? ""}` : bare;
}

function filledAddress(
  { name, address, addressVariable }: ProviderFacts,
  env: EnvironmentVariables,
  orPass: string,
): string {
  if (address === undefined) {
    if (addressVariable === undefined) return "";
    throw new ModelChoiceError(
      "missing-address",
      `${name} needs the address of its server. Set ${addressVariable}, for example to http://127.0.0.1:8080/v1${orPass}.`,
    );
  }
  return address.replace(/\{(\w+)\}/g, (_, variable: string) => {
    const value = readVariable(env, variable);
    if (value !== undefined) return value;
    throw new ModelChoiceError(
      "missing-address",
      `${name} needs an address. Set ${variable}, or ${addressVariable}${orPass}.`,
    );
  });
}

function providerKey(provider: ProviderFacts, env: EnvironmentVariables, hasOptions: boolean): string | undefined {
  const { name, keyVariable, needsOneOf } = provider;
  if (needsOneOf && !needsOneOf.some((needed) => needed.every((variable) => readVariable(env, variable)))) {
    const ways = needsOneOf.map((needed) => new Intl.ListFormat("en").format(needed)).join(", or ");
    throw new ModelChoiceError("missing-key", `${name} needs credentials. Set ${ways}.`);
  }
  if (keyVariable === undefined) return undefined;
  const key = readVariable(env, keyVariable);
  if (key === undefined && provider.needsKey) {
    const orPass = hasOptions ? ", or pass apiKey" : "";
    throw new ModelChoiceError("missing-key", `${name} needs a key. Set ${keyVariable} to your key${orPass}.`);
  }
  return key;
}

function proxyOf(env: EnvironmentVariables): ProxyAddresses | undefined {
  // Other runtimes read these variables themselves, or have other settings.
  if (!isNode()) return undefined;
  const http = proxyIn(env, "HTTP_PROXY");
  const https = proxyIn(env, "HTTPS_PROXY");
  if (http === undefined && https === undefined) return undefined;
  const except = readVariable(env, "no_proxy") ?? readVariable(env, "NO_PROXY");
  return {
    ...(http === undefined ? {} : { http }),
    ...(https === undefined ? {} : { https }),
    ...(except === undefined ? {} : { except }),
  };
}

function proxyIn(env: EnvironmentVariables, variable: string): string | undefined {
  const given = readVariable(env, variable.toLowerCase()) ?? readVariable(env, variable);
  if (given === undefined) return undefined;
  const address = given.includes("://") ? given : `http://${given}`;
  if (URL.canParse(address)) return address;
  throw new ModelChoiceError(
    "malformed-address",
    `"${given}" in ${variable} is not an address. Write it like http://127.0.0.1:3128.`,
  );
}
