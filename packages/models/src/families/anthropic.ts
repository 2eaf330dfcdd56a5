import type { LanguageModelRequest } from "@banyan/core/ai-sdk";
import type { ProviderData } from "@banyan/core/conversation";

/** Anthropic caches a request up to this mark. */
export const CACHE_MARK = { type: "ephemeral" } as const;

/** Adds the marks of Anthropic's cache, except if a user sets `cacheControl` for the whole request. */
export function adaptForAnthropic(request: LanguageModelRequest): LanguageModelRequest {
  if (request.providerOptions?.anthropic?.cacheControl !== undefined) return request;
  return markForCache(request, { anthropic: { cacheControl: CACHE_MARK } });
}

type Options = NonNullable<LanguageModelRequest["prompt"][number]["providerOptions"]>;

/**
 * Adds cache marks to a request: after the tools and the system prompt, and to the last two messages that are not the
 * model's. The next request shares the beginning up to the last mark, and finds it by the mark before its own. Three
 * marks at most; Anthropic accepts four.
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
    // Tools come before the system prompt and are cached with it.
    put(0);
    return { ...request, prompt };
  }
  const last = request.tools?.at(-1);
  if (last?.type !== "function") return { ...request, prompt };
  const marked = { ...last, providerOptions: { ...last.providerOptions, ...(mark as Options) } };
  return { ...request, prompt, tools: [...(request.tools ?? []).slice(0, -1), marked] };
}
