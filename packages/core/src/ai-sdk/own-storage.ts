import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";

/** Models of OpenAI's responses format, in the packages of all providers. */
const RESPONSES = /\.responses$/;

/** Prompts share their messages between steps, so each message is examined once. */
const known = new WeakMap<LanguageModelV4Message, LanguageModelV4Message>();

/**
 * Makes a request to OpenAI's Responses API independent of data that the provider stores: the request contains the
 * whole conversation, with encrypted reasoning. Leaves out other reasoning that is only stored at the provider. An
 * explicit `store` option takes precedence.
 */
export function withOwnStorage(request: LanguageModelV4CallOptions, model: string): LanguageModelV4CallOptions {
  if (!RESPONSES.test(model)) return request;
  const { providerOptions = {}, prompt } = request;
  const name = optionsName(request, model);
  const options = providerOptions[name];
  if (options?.store !== undefined && options.store !== null) return request;
  return {
    ...request,
    prompt: prompt.map(withPartsOnce),
    providerOptions: { ...providerOptions, [name]: { ...options, store: false } },
  };
}

/** Providers whose packages have the option `promptCacheKey`. */
const WITH_CACHE_KEY = /^(?:openai|azure)[\w-]*\.(?:responses|chat)$|^xai\.responses$|^mistral\.chat$/;

/** Adds the name of the prompt cache, if the provider has such an option. The user's own option takes precedence. */
export function withCacheKey(
  request: LanguageModelV4CallOptions,
  model: string,
  key: string | undefined,
): LanguageModelV4CallOptions {
  if (key === undefined || !WITH_CACHE_KEY.test(model)) return request;
  const name = optionsName(request, model);
  const options = { promptCacheKey: key, ...request.providerOptions?.[name] };
  return { ...request, providerOptions: { ...request.providerOptions, [name]: options } };
}

/** Returns the name of the provider's options in a request. */
function optionsName({ providerOptions = {} }: LanguageModelV4CallOptions, model: string): string {
  const [provider = model] = model.split(".", 1);
  // Azure's package reads options for OpenAI if its own are absent.
  return provider in providerOptions || !("openai" in providerOptions) ? provider : "openai";
}

function withPartsOnce(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role !== "assistant") return message;
  let own = known.get(message);
  if (!own) {
    own = withoutStored(message);
    known.set(message, own);
  }
  return own;
}

type Assistant = Extract<LanguageModelV4Message, { role: "assistant" }>;
type ProviderMarks = NonNullable<Assistant["content"][number]["providerOptions"]>;

/** Returns the message without reasoning that only the provider has. Several parts may share an id. */
function withoutStored(message: Assistant): Assistant {
  const encrypted = new Set<unknown>();
  for (const { providerOptions } of message.content) {
    for (const { itemId, reasoningEncryptedContent } of providerMarks(providerOptions)) {
      if (reasoningEncryptedContent) encrypted.add(itemId);
    }
  }
  const isStored = (marks: ProviderMarks | undefined) =>
    providerMarks(marks).some(({ itemId }) => itemId !== undefined && !encrypted.has(itemId));
  const content = message.content.filter((part) => part.type !== "reasoning" || !isStored(part.providerOptions));
  return content.length === message.content.length ? message : { ...message, content };
}

function providerMarks(marks: ProviderMarks | undefined): readonly ProviderMarks[string][] {
  return Object.values(marks ?? {});
}
