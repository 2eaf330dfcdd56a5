import { pathToFileURL } from "node:url";
import { fromLanguageModel } from "@banyan/core";
import type { Places } from "../measure.ts";
import type { Client } from "./client.ts";
import { engineOver } from "./engine.ts";

/** Our engine over the model of a provider package, instead of our driver of the format. */
export async function connect(address: string, places: Places): Promise<Client> {
  const place = places["provider-package"];
  if (place === undefined) throw new Error("The provider package is not installed.");
  const { languageModel } = await import(pathToFileURL(place).href);
  return engineOver(fromLanguageModel(languageModel(address)));
}
