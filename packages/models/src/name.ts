import { OptionError } from "@banyan/core/conversation";
import { nearest } from "@banyan/core/shown";
import { type Effort, withoutEffort } from "./provider/effort.ts";
import { ModelChoiceError } from "./provider/model-choice-error.ts";
import type { Provider } from "./provider/provider.ts";
import { providers } from "./providers.ts";

/**
 * Short names of models. The value is `provider/model`, with an optional effort, or another short name.
 * See {@link builtInAliases}.
 */
export type Aliases = Readonly<Record<string, string>>;

/**
 * The short names that work without settings. A user's alias replaces the same built-in name.
 * @example console.log(Object.keys(builtInAliases));
 */
export const builtInAliases: Aliases = {
  sonnet: "anthropic/claude-sonnet-5",
  opus: "anthropic/claude-opus-5",
  haiku: "anthropic/claude-haiku-4-5",
  gpt: "openai/gpt-5.4",
  "gpt-mini": "openai/gpt-5.4-mini",
  gemini: "google/gemini-3.5-flash",
  "gemini-pro": "google/gemini-3.1-pro-preview",
  grok: "xai/grok-4.5",
};

/** A parsed model name. */
export interface ModelName {
  /** The full `provider/model[:effort]`. */
  readonly id: string;
  readonly provider: Provider;
  readonly model: string;
  readonly effort: Effort | undefined;
}

/**
 * Parses `provider/model` or a short name, with an optional effort after the last colon. If the text after a colon is
 * no effort, it belongs to the model's name. An effort in `name` overrides the effort of an alias. Throws
 * `ModelChoiceError`.
 */
export function parseName(name: string, aliases: Aliases = {}): ModelName {
  for (const [alias, meant] of Object.entries(aliases)) {
    if (typeof meant === "string") continue;
    throw new OptionError(
      `aliases.${alias} must be the name of a model, such as "openai/gpt-5", not of type ${typeof meant}.`,
    );
  }
  const known: Aliases = { ...builtInAliases, ...aliases };
  let { full, effort } = withoutEffort(name);
  for (const seen = new Set<string>(); !full.includes("/") && Object.hasOwn(known, full); ) {
    if (seen.has(full)) {
      throw new ModelChoiceError(
        "malformed-name",
        `The alias "${full}" points to itself. Set the alias to provider/model.`,
      );
    }
    seen.add(full);
    const meant = withoutEffort(known[full] ?? "");
    full = meant.full;
    effort ??= meant.effort;
  }
  const { provider, model } = splitModel(full, known);
  return { id: effort === undefined ? full : `${full}:${effort}`, provider, model, effort };
}

/** Models of providers without a default model, for errors. */
const EXAMPLES: Readonly<Record<string, string>> = { demo: "offline", local: "models/qwen3.gguf" };

function splitModel(name: string, aliases: Aliases): { provider: Provider; model: string } {
  const slash = name.indexOf("/");
  const first = slash === -1 ? name : name.slice(0, slash);
  const model = slash === -1 ? "" : name.slice(slash + 1);
  const provider = providers.find((candidate) => candidate.name === first);
  if (provider && model !== "") {
    if (provider.name !== "demo" || model === "offline") return { provider, model };
    throw new ModelChoiceError("unknown-model", `There is no model "${name}". The demo has one model: demo/offline.`);
  }
  if (provider) {
    const example = `${first}/${EXAMPLES[first] ?? provider.defaultModel ?? "<model>"}`;
    throw new ModelChoiceError(
      "malformed-name",
      `"${name}" does not say which model of ${first}. Write provider/model, as in ${example}.`,
    );
  }
  if (model === "" || first === "") {
    const short = nearest(name, Object.keys(aliases));
    const guess = short.length === 0 ? "" : ` Did you mean ${short.join(" or ")}?`;
    throw new ModelChoiceError(
      "malformed-name",
      `"${name}" is not the name of a model.${guess} Write provider/model, as in anthropic/claude-sonnet-5, with one of these providers: ${providerNames().join(", ")}.`,
    );
  }
  const near = nearest(first, providerNames());
  const guess =
    near.length === 0 ? "" : ` Did you mean ${near.map((candidate) => `${candidate}/${model}`).join(" or ")}?`;
  throw new ModelChoiceError(
    "unknown-provider",
    `There is no provider "${first}".${guess} Write provider/model, with one of these providers: ${providerNames().join(", ")}.`,
  );
}

function providerNames(): string[] {
  return providers.map((provider) => provider.name);
}
