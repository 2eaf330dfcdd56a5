import { homedir } from "node:os";
import {
  builtInAliases,
  describeFault,
  type KnownModel,
  modelsOfProvider,
  type ProviderStatus,
  providersHere,
  readConfiguration,
} from "@banyan/host";
import { ownCommand } from "@banyan/host/own-command";
import { listing } from "../output/listing.ts";
import type { ExitCode } from "../program/exit.ts";
import { FACTS_HEAD, factsCells } from "../show/model-facts.ts";
import { plainLine } from "../show/plain-text.ts";
import { table } from "../show/table.ts";
import type { ModelsArguments } from "./arguments.ts";

/** `banyan models`: which providers work on this machine, or the known models of one provider (B65). */
export function models({ provider, output }: ModelsArguments): Promise<ExitCode> {
  return listing(async (write, warn) => {
    const { settings, faults } = readConfiguration({ env: process.env, home: homedir() });
    for (const fault of faults) warn(describeFault(fault));
    const place = { settings, env: process.env, workspace: process.cwd() };
    // Check the provider's name before any server is asked.
    if (provider !== undefined) await modelsOfProvider(provider, place);
    const providers = await providersHere(place);
    const aliases = { ...builtInAliases, ...settings.aliases };
    const status = providers.find(({ name }) => name === provider);
    const known = status ? await modelsOfProvider(status.name, place, status.models) : [];
    if (output === "json") {
      const found = status ? { provider: status, models: everyModel(status, known) } : { providers, aliases };
      write(`${JSON.stringify(found, null, 2)}\n`);
    } else {
      const lines = status ? modelLines(status, everyModel(status, known)) : providerLines(providers, aliases);
      write(`${lines.join("\n")}\n`);
    }
  });
}

/** Models of the catalogue and the settings, then others that the provider's server lists. */
function everyModel({ models = [], price }: ProviderStatus, known: readonly KnownModel[]): KnownModel[] {
  const listed = models.filter((name) => !known.some((model) => model.name === name));
  return [...known, ...listed.map((name) => ({ name, ...(price ? { price } : {}) }))];
}

function providerLines(providers: readonly ProviderStatus[], aliases: Readonly<Record<string, string>>): string[] {
  const usable = providers.filter((provider) => provider.usable);
  const others = providers.filter((provider) => !provider.usable);
  return [
    "Available providers:",
    ...table(usable.flatMap(usableRows)),
    "",
    "These cannot:",
    ...table(others.map(({ name, reason }) => [`  ${name}`, reason])),
    "",
    "Short names:",
    ...table(Object.entries(aliases).map(([name, model]) => [`  ${name}`, model])),
    "",
    `${ownCommand("models PROVIDER")} lists the models of a provider. Choose a model with --model, or with /model in a chat.`,
  ];
}

function usableRows({ name, reason, defaultModel, known, models = [] }: ProviderStatus): string[][] {
  const [first = "", ...more] = models.map(plainLine);
  const model = defaultModel ?? (first || (known > 0 ? `${known} models known, none by default` : ""));
  return [[`  ${name}`, model, reason], ...more.map((other) => ["", other, ""])];
}

function modelLines({ name, usable, reason }: ProviderStatus, known: readonly KnownModel[]): string[] {
  const state = `${name} ${usable ? "can" : "cannot"} be used: ${reason}`;
  if (known.length === 0)
    return [state, "", "Banyan has no list of this provider's models. Name a model as provider/model."];
  const rows = [
    ["  model", ...FACTS_HEAD],
    ...known.map((model) => [`  ${plainLine(model.name)}`, ...factsCells(model)]),
  ];
  return [state, "", ...table(rows, 1), "", "Prices are US dollars per million tokens; — means unknown."];
}
