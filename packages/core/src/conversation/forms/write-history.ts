import { didYouMean, OptionError } from "../option-names.ts";
import { shownKind } from "../shape-problem.ts";
import type { HistoryMessage } from "./history-message.ts";
import { type AiSdkMessage, type AiSdkUiMessage, writeAiSdk, writeAiSdkUi } from "./write-ai-sdk.ts";
import { type AnthropicMessage, writeAnthropic } from "./write-anthropic.ts";
import { type OpenAiChatMessage, type OpenAiItem, writeOpenAiChat, writeOpenAiItems } from "./write-openai.ts";

/** The messages of each form. */
export interface MessageForms {
  /** `ModelMessage` of the AI SDK. */
  "ai-sdk": AiSdkMessage;
  /** `UIMessage` of the AI SDK. */
  "ai-sdk-ui": AiSdkUiMessage;
  /** Messages of OpenAI's chat completions. */
  "openai-chat": OpenAiChatMessage;
  /** Input items of OpenAI's responses. */
  "openai-responses": OpenAiItem;
  /** Messages of Anthropic. */
  anthropic: AnthropicMessage;
}

const WRITERS: { readonly [Form in keyof MessageForms]: (history: readonly HistoryMessage[]) => MessageForms[Form][] } =
  {
    "ai-sdk": writeAiSdk,
    "ai-sdk-ui": writeAiSdkUi,
    "openai-chat": writeOpenAiChat,
    "openai-responses": writeOpenAiItems,
    anthropic: writeAnthropic,
  };

/**
 * Writes a history in a form. Throws `OptionError` for an unknown form.
 * @example
 * const history = historyOf(pathTo(session.state, session.state.leaf), (run) => run);
 * const messages = writeHistory("anthropic", history);
 */
export function writeHistory<Form extends keyof MessageForms>(
  form: Form,
  history: readonly HistoryMessage[],
): MessageForms[Form][] {
  if (Object.hasOwn(WRITERS, form)) return WRITERS[form](history);
  const names = Object.keys(WRITERS);
  const near = typeof form === "string" ? didYouMean(form, names) : undefined;
  const given = typeof form === "string" ? JSON.stringify(form) : shownKind(form);
  throw new OptionError(`${given} is no form of messages; ${near ?? `the forms are ${names.join(", ")}.`}`);
}
