import type { EmbeddingModel } from "@banyan/core/ai-sdk";
import { refuseUnknown } from "@banyan/core/conversation";
import { parseName } from "./name.ts";
import { processVariables } from "./provider/environment.ts";
import { ModelChoiceError } from "./provider/model-choice-error.ts";
import { setUpOf } from "./provider/set-up.ts";
import { providers } from "./providers.ts";
import type { ResolveOptions } from "./resolve.ts";
import { checkFetch } from "./wire/pool.ts";

/**
 * Creates an embedding model from `provider/model` or a short name. Keys and addresses come from `env`. Loads and sends
 * nothing before the first use, so an unknown model fails only at that time. Throws `ModelChoiceError`.
 * @example
 * const memory = sqliteMemory({ file: "memory.db", embed: embeddingModel("openai/text-embedding-3-small") });
 */
export function embeddingModel(
  name: string,
  options: Pick<ResolveOptions, "env" | "aliases" | "fetch"> = {},
): EmbeddingModel {
  refuseUnknown("embeddingModel", options, { env: "object", aliases: "object", fetch: true });
  checkFetch("embeddingModel", options);
  const { env = processVariables(), aliases, fetch } = options;
  const { provider, model, effort } = parseName(name, aliases);
  if (effort !== undefined)
    throw new ModelChoiceError("malformed-name", `"${name}" names an effort, which embedding models do not have.`);
  const { openEmbedding } = provider;
  if (!openEmbedding) {
    const others = providers.filter((other) => other.openEmbedding).map((other) => other.name);
    throw new ModelChoiceError(
      "no-embeddings",
      `"${name}" cannot make vectors: ${provider.name} has no embedding models. Name one of ${others.join(", ")}, as in openai/text-embedding-3-small.`,
    );
  }
  const target = { ...setUpOf(provider, env), model, fetch };
  let opened: Promise<EmbeddingModel> | undefined;
  const open = () => {
    opened ??= openEmbedding(target);
    return opened;
  };
  return {
    specificationVersion: "v4",
    provider: provider.name,
    modelId: model,
    get maxEmbeddingsPerCall() {
      return open().then(({ maxEmbeddingsPerCall }) => maxEmbeddingsPerCall);
    },
    get supportsParallelCalls() {
      return open().then(({ supportsParallelCalls }) => supportsParallelCalls);
    },
    doEmbed: async (call) => (await open()).doEmbed(call),
  };
}
