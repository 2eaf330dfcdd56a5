import type { LanguageModelRequest } from "@banyan/core/ai-sdk";
import type { ProviderData } from "@banyan/core/conversation";

/** The option that marks a message or tool: Anthropic caches the request up to this mark. */
export const CACHE_MARK = { type: "ephemeral" } as const;

/** Adds Anthropic's cache marks to a request, unless the user sets `cacheControl` for the whole request. */
export function adaptForAnthropic(request: LanguageModelRequest): LanguageModelRequest {
  if (request.providerOptions?.anthropic?.cacheControl !== undefined) return request;
  return markForCache(request, { anthropic: { cacheControl: CACHE_MARK } });
}

type Options = NonNullable<LanguageModelRequest["prompt"][number]["providerOptions"]>;

/**
 * Adds at most three cache marks to a request. One follows the tools and the system prompt. The others are on the last
 * two messages that the model did not write. The earlier of these two lets the next request find the cached beginning.
 */
export function markForCache(request: LanguageModelRequest, mark: ProviderData): LanguageModelRequest {
  const prompt = [...request.prompt];
  const put = (index: number) => {
    const message = prompt[index];
    if (message) prompt[index] = { ...message, providerOptions: { ...message.providerOptions, ...(mark as Options) } };
  };
  const spoken = prompt.flatMap(({ role }, index) => (role === "user" || role === "tool" ? [index] : []));
  for (const index of spoken.slice(-2)) put(index);
  if (prompt[0]?.role === "system") {
    // Anthropic caches tools together with the system prompt after them.
    put(0);
    return { ...request, prompt };
  }
  const last = request.tools?.at(-1);
  if (last?.type !== "function") return { ...request, prompt };
  const marked = { ...last, providerOptions: { ...last.providerOptions, ...(mark as Options) } };
  return { ...request, prompt, tools: [...(request.tools ?? []).slice(0, -1), marked] };
}
