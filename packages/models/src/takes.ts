import { PDF, PICTURES } from "@banyan/core/drivers";
import type { Provider } from "./provider.ts";

/** Providers whose own models see, but for those that `BLIND` names. Elsewhere are those of many makers. */
const SEEING_PROVIDERS = new Set(["anthropic", "openai", "openai-chat", "google", "mistral", "xai", "azure"]);

/** Words in the names of models that see pictures. */
const SEEING =
  /(?<![a-z])(?:claude|gemini|gemma-?[34]|gpt-4o|gpt-4\.1|gpt-5|chatgpt|o[1-9]|grok-[4-9]|llama-?4|llava|pixtral|mistral-(?:small|medium|large)|vision|vl|minicpm-v|moondream|nova-(?:lite|pro|premier))(?![a-z])/i;
/** Words in the names of models that see none, whatever else their names say. */
const BLIND =
  /(?<![a-z])(?:gpt-3\.5|gpt-oss|o1-(?:mini|preview)|o3-mini|codestral|devstral|magistral|mixtral|open-mistral|coder|grok-(?:[123]|code)|nova-micro)(?![a-z\d])/i;

/** What of files is known to go through the format of a provider, where its driver does not know that itself. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  mistral: [...PICTURES, PDF],
  "openai-chat": [...PICTURES, PDF],
  openrouter: [...PICTURES, PDF],
};

/**
 * Media types of the files that a model is shown with results of calls, as far as its name tells whether it sees: a provider
 * refuses the whole conversation of a model that does not. Nothing where its driver knows.
 *
 * @param sees What the user says of it, which counts more.
 */
export function takesOf(
  { name }: Pick<Provider, "name">,
  model: string,
  sees?: boolean,
): readonly string[] | undefined {
  const guess = !BLIND.test(model) && (SEEING_PROVIDERS.has(name) || SEEING.test(model));
  return (sees ?? guess) ? TYPES[name] : [];
}
