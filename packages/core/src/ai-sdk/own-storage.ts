import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";

/** As the packages call models of OpenAI's responses format, whoever speaks it. */
const RESPONSES = /\.responses$/;

/** Prompts share their messages from step to step, so that each is looked through once. */
const known = new WeakMap<LanguageModelV4Message, LanguageModelV4Message>();

/**
 * A request in OpenAI's responses format that needs nothing of what the provider may have stored: the conversation is kept
 * here, and goes to it in full. Servers without storage, accounts that may keep nothing, another key and a conversation that
 * the provider has forgotten take it alike. Reasoning goes back encrypted; of a response whose reasoning the provider kept to
 * itself it is left out. Whoever sets the option `store` decides by it.
 */
export function withOwnStorage(request: LanguageModelV4CallOptions, model: string): LanguageModelV4CallOptions {
  if (!RESPONSES.test(model)) return request;
  const { providerOptions = {}, prompt } = request;
  const [provider = model] = model.split(".", 1);
  // Azure's package reads options for OpenAI where there are none for itself.
  const name = provider in providerOptions || !("openai" in providerOptions) ? provider : "openai";
  const options = providerOptions[name];
  if (options?.store !== undefined && options.store !== null) return request;
  return {
    ...request,
    prompt: prompt.map(once),
    providerOptions: { ...providerOptions, [name]: { ...options, store: false } },
  };
}

function once(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role !== "assistant") return message;
  let own = known.get(message);
  if (!own) {
    own = withoutStored(message);
    known.set(message, own);
  }
  return own;
}

type Assistant = Extract<LanguageModelV4Message, { role: "assistant" }>;
type Marks = NonNullable<Assistant["content"][number]["providerOptions"]>;

/** Without the reasoning of which only the provider knows more than its id: several parts may be of one id. */
function withoutStored(message: Assistant): Assistant {
  const encrypted = new Set<unknown>();
  for (const { providerOptions } of message.content) {
    for (const { itemId, reasoningEncryptedContent } of marksOf(providerOptions)) {
      if (reasoningEncryptedContent) encrypted.add(itemId);
    }
  }
  const isStored = (marks: Marks | undefined) =>
    marksOf(marks).some(({ itemId }) => itemId !== undefined && !encrypted.has(itemId));
  const content = message.content.filter((part) => part.type !== "reasoning" || !isStored(part.providerOptions));
  return content.length === message.content.length ? message : { ...message, content };
}

function marksOf(marks: Marks | undefined): readonly Marks[string][] {
  return Object.values(marks ?? {});
}
