import type { Json } from "@banyan/core";
import type { FilePart, ProviderData } from "@banyan/core/conversation";
import { encodableResult, ModelError, type PromptMessage, type PromptResult } from "@banyan/core/drivers";
import { isJsonRecord, type JsonRecord, parseJsonText } from "@banyan/core/shown";
import { encodeText } from "../wire/bytes.ts";

/** The key of Google's data in the provider data of a message. */
export const PROVIDER = "google";

/** Google accepts this text in place of a lost signature: https://ai.google.dev/gemini-api/docs/thought-signatures. */
const UNSIGNED = "skip_thought_signature_validator";

/** A prompt message in Gemini's format, as JSON bytes: its contents, each after a comma. May be empty. */
export interface EncodedContents {
  readonly bytes: Uint8Array;
  /** The same bytes without those calls of Google's tools that have no results. Absent if there are no such calls. */
  readonly settled?: Uint8Array;
}

type PromptAnswer = Extract<PromptMessage, { role: "assistant" }>;
type PromptFile = Extract<PromptMessage, { role: "user" }>["parts"][number];
type GeminiPart = Readonly<Record<string, unknown>>;

/**
 * Encodes a message (https://ai.google.dev/api/caching#Content).
 * @param isNew Whether the model is Gemini 3 or newer.
 * @param takes Media types of files that the model accepts in tool results.
 */
export function encodeContents(message: PromptMessage, isNew: boolean, takes: readonly string[]): EncodedContents {
  if (message.role === "user") return { bytes: encodeText(content("user", message.parts.flatMap(userPart))) };
  const results = content(
    "user",
    message.results.flatMap((result) => resultParts(result, isNew, takes)),
  );
  const encoded = (leftOut: ReadonlySet<Json>) =>
    encodeText(content("model", modelParts(message, isNew, leftOut)) + results);
  const bytes = encoded(NONE);
  const open = openActions(message);
  return open.size === 0 ? { bytes } : { bytes, settled: encoded(open) };
}

const NONE: ReadonlySet<Json> = new Set();

function content(role: "user" | "model", parts: readonly GeminiPart[]): string {
  return parts.length === 0 ? "" : `,${JSON.stringify({ role, parts })}`;
}

function userPart(part: PromptFile): GeminiPart | readonly GeminiPart[] {
  if (part.type === "file") return filePart(part);
  return part.text === "" ? [] : { text: part.text };
}

function filePart({ mediaType, name = "without a name", data, url }: FilePart): GeminiPart {
  if (data !== undefined) return { inlineData: { mimeType: mediaType, data } };
  if (url === undefined) throw new ModelError("invalid-request", `The file ${name} has neither data nor a URL.`);
  const fileUri = URL.parse(url)?.href;
  if (fileUri === undefined)
    throw new ModelError("invalid-request", `The file ${name} has an invalid URL: ${url.slice(0, 100)}`);
  // Google finds the type of an address itself, and refuses `image/*`.
  return { fileData: { ...(mediaType.endsWith("/*") ? {} : { mimeType: mediaType }), fileUri } };
}

function modelParts(message: PromptAnswer, isNew: boolean, leftOut: ReadonlySet<Json>): GeminiPart[] {
  const parts: GeminiPart[] = [];
  /** Google signs only the first of parallel calls. */
  let isSigned = false;
  for (const part of message.parts) {
    const thoughtSignature = signatureIn(part.provider);
    if (part.type === "provider") {
      // Google may have dropped its own actions of an interrupted answer.
      const action = message.unfinished ? undefined : part.provider[PROVIDER]?.part;
      if (isJsonRecord(action) && !leftOut.has(action.toolCallId as Json)) parts.push(...actionParts(action, isNew));
    } else if (part.type === "call") {
      isSigned ||= thoughtSignature !== undefined;
      const functionCall = { id: part.id, name: part.tool, args: part.input };
      parts.push({ functionCall, thoughtSignature: thoughtSignature ?? (isNew && !isSigned ? UNSIGNED : undefined) });
    } else if (part.text !== "" || thoughtSignature !== undefined) {
      const thought = part.type === "reasoning" ? true : undefined;
      parts.push({ text: part.text, thought, thoughtSignature });
    }
  }
  return parts;
}

/** Google's models at Vertex AI have the same signatures under other names. */
function signatureIn(provider: ProviderData | undefined): string | undefined {
  const own = provider?.[PROVIDER] ?? provider?.googleVertex ?? provider?.vertex;
  return own?.thoughtSignature == null ? undefined : String(own.thoughtSignature);
}

/** Encodes an action of Google, in the form in which the log keeps the actions of all providers. */
function actionParts(action: JsonRecord, isNew: boolean): readonly GeminiPart[] {
  const thoughtSignature = signatureIn(action.providerOptions as ProviderData | undefined);
  const own = isJsonRecord(action.providerOptions) ? action.providerOptions[PROVIDER] : undefined;
  const { serverToolCallId: id, serverToolType: toolType }: JsonRecord = isJsonRecord(own) ? own : {};
  const isTool = typeof id === "string" && typeof toolType === "string";
  if (action.type === "tool-call") {
    const args = typeof action.input === "string" ? (parseJsonText(action.input) ?? action.input) : action.input;
    if (isTool)
      return [
        { toolCall: { toolType, args, id }, thoughtSignature: thoughtSignature ?? (isNew ? UNSIGNED : undefined) },
      ];
    return isJsonRecord(args) ? [{ executableCode: { language: args.language, code: args.code } }] : [];
  }
  const output = isJsonRecord(action.output) ? action.output : {};
  if (action.type !== "tool-result") return [];
  if (isTool) {
    const response = output.type === "json" ? output.value : {};
    return [{ toolResponse: { toolType, response, id }, thoughtSignature }];
  }
  if (!isJsonRecord(output.value)) return [];
  return [{ codeExecutionResult: { outcome: output.value.outcome, output: output.value.output } }];
}

/** Returns the ids of Google's own calls without results in the same message. */
function openActions({ parts, unfinished }: PromptAnswer): Set<Json> {
  const open = new Set<Json>();
  if (unfinished) return open;
  for (const part of parts) {
    const action = part.type === "provider" ? part.provider[PROVIDER]?.part : undefined;
    if (!isJsonRecord(action)) continue;
    if (action.type === "tool-call") open.add(action.toolCallId as Json);
    if (action.type === "tool-result") open.delete(action.toolCallId as Json);
  }
  return open;
}

function resultParts(result: PromptResult, isNew: boolean, takes: readonly string[]): readonly GeminiPart[] {
  const { call: id, tool: name, failed } = result;
  const { text, files } = encodableResult(result, takes);
  const isError = failed && files.length === 0;
  const functionResponse = { id, name, response: { name, ...(isError ? { error: text } : { content: text }) } };
  if (files.length === 0) return [{ functionResponse }];
  const data = files.map(filePart);
  if (isNew) return [{ functionResponse: { ...functionResponse, parts: data } }];
  return [{ functionResponse }, ...files.flatMap((file, index) => [data[index] ?? {}, { text: seen(file) }])];
}

/** Older models take files only after the results, and need the reason for each. */
function seen({ mediaType }: FilePart): string {
  const what = mediaType.startsWith("image/") ? "image" : "file";
  return `Tool executed successfully and returned this ${what} as a response`;
}
