import { PDF, PICTURES } from "@banyan/core/drivers";
import type { ProviderFacts } from "./provider.ts";

/** Providers whose own models see images, except for `BLIND`. Other providers host models of many makers. */
const SEEING_PROVIDERS = new Set(["anthropic", "openai", "openai-chat", "google", "mistral", "xai", "azure"]);

const SEEING =
  /(?<![a-z])(?:claude|gemini|gemma-?[34]|gpt-4o|gpt-4\.1|gpt-5|chatgpt|o[1-9]|grok-[4-9]|llama-?4|llava|pixtral|mistral-(?:small|medium|large)|vision|vl|minicpm-v|moondream|nova-(?:lite|pro|premier))(?![a-z])/i;
/** Words in the names of models that see no images. Takes precedence over `SEEING`. */
const BLIND =
  /(?<![a-z])(?:gpt-3\.5|gpt-oss|o1-(?:mini|preview)|o3-mini|codestral|devstral|magistral|mixtral|open-mistral|coder|grok-(?:[123]|code)|nova-micro)(?![a-z\d])/i;

/** Returns whether a model sees images, judged by its name and provider. */
export function seesByName({ name }: Pick<ProviderFacts, "name">, model: string): boolean {
  return !BLIND.test(model) && (SEEING_PROVIDERS.has(name) || SEEING.test(model));
}

/** Default file types by provider, if the driver does not know the types itself. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  mistral: [...PICTURES, PDF],
  "openai-chat": [...PICTURES, PDF],
  openrouter: [...PICTURES, PDF],
};

/** Media types of files for tool results. A provider refuses the conversation if its model cannot see such a file. */
export function takesOf(
  provider: Pick<ProviderFacts, "name">,
  model: string,
  sees?: boolean,
): readonly string[] | undefined {
  return (sees ?? seesByName(provider, model)) ? TYPES[provider.name] : [];
}
