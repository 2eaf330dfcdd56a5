import { type Json, ModelError } from "@banyan/core";
import type { FilePart, ProviderData } from "@banyan/core/conversation";
import { encodableResult, PDF, type PromptCall, type PromptMessage, type PromptResult } from "@banyan/core/drivers";
import { clientItems, hostedItems } from "./action-items.ts";
import type { ItemContext, ItemData, RequestItem } from "./item.ts";
import type { ResponsesProvider } from "./provider.ts";

type PromptAnswer = Extract<PromptMessage, { role: "assistant" }>;

export function messageItem(
  role: string,
  content: unknown,
  { needsType }: Pick<ItemContext, "needsType">,
): RequestItem {
  return needsType ? { type: "message", role, content } : { role, content };
}

/** Encodes a message as items of the Responses API. Throws `ModelError` for a file that the model cannot get. */
export function encodeItems(message: PromptMessage, context: ItemContext): readonly RequestItem[] {
  if (message.role === "assistant")
    return [...answerItems(message, context), ...message.results.map((result) => resultItem(result, context))];
  const said = message.parts.filter((part) => part.type === "file" || part.text !== "");
  const content = said.map((part, index) =>
    part.type === "text" ? { type: "input_text", text: part.text } : userFile(part, index, context),
  );
  return content.length === 0 ? [] : [messageItem("user", content, context)];
}

interface ReasoningItem {
  type: "reasoning";
  id?: string;
  encrypted_content?: string;
  summary: { type: "summary_text"; text: string }[];
  status?: "completed";
}

function answerItems(message: PromptAnswer, context: ItemContext): readonly RequestItem[] {
  const { stores, inConversation, provider } = context;
  const items: (RequestItem | ReasoningItem)[] = [];
  const reasoning = new Map<string, ReasoningItem>();
  const references = new Set<string>();
  let isAfterReasoning = false;
  const refer = (id: string) => {
    if (!references.has(id)) items.push({ type: "item_reference", id });
    references.add(id);
  };
  for (const part of message.parts) {
    if (part.type === "provider") {
      // The provider may have forgotten its own actions for a broken response.
      const action = message.unfinished ? undefined : part.provider[provider]?.part;
      if (action !== undefined) items.push(...hostedItems(action, context));
      continue;
    }
    const own = ownData(part.provider, provider, message.unfinished === true);
    const id = typeof own.itemId === "string" ? own.itemId : undefined;
    if (part.type === "reasoning") {
      isAfterReasoning = true;
      if (id !== undefined && (inConversation || context.followsResponse)) continue;
      if (stores && id !== undefined) refer(id);
      else addReasoning(items, reasoning, part.text, id, own, provider);
    } else if (id !== undefined && inConversation) continue;
    else if (part.type === "call") items.push(...callItems(part, id, own, context));
    // Stored messages need the reasoning before them.
    else if (stores && id !== undefined && (!context.reasons || isAfterReasoning)) refer(id);
    else if (part.text !== "") {
      const { phase } = own;
      items.push({ ...messageItem("assistant", part.text, context), ...(phase === undefined ? {} : { phase }) });
    }
  }
  // Only the server has reasoning without encrypted content.
  const sent = items.filter((item) => item.type !== "reasoning" || item.encrypted_content !== undefined);
  // The API refuses reasoning without the item that follows, as in an answer that was cut before its first word.
  while (sent.at(-1)?.type === "reasoning") sent.pop();
  return sent as RequestItem[];
}

/** OpenAI refuses the id of an item that it has not stored, as for parts of an unfinished response. */
function ownData(data: ProviderData | undefined, provider: ResponsesProvider, isUnfinished: boolean): ItemData {
  const own = data?.[provider] ?? {};
  return isUnfinished && "itemId" in own ? {} : own;
}

/** The paragraphs of one reasoning are separate parts with the same id. */
function addReasoning(
  items: (RequestItem | ReasoningItem)[],
  known: Map<string, ReasoningItem>,
  text: string,
  id: string | undefined,
  { reasoningEncryptedContent: encrypted }: ItemData,
  provider: ResponsesProvider,
): void {
  let item = id === undefined ? undefined : known.get(id);
  if (!item) {
    item = { type: "reasoning", ...(id === undefined ? {} : { id }), summary: [] };
    if (provider === "xai") item.status = "completed";
    if (id !== undefined) known.set(id, item);
    items.push(item);
  }
  if (text !== "") item.summary.push({ type: "summary_text", text });
  if (typeof encrypted === "string") item.encrypted_content = encrypted;
}

function callItems(
  call: PromptCall,
  id: string | undefined,
  own: ItemData,
  context: ItemContext,
): readonly RequestItem[] {
  const client = clientItems(call, id, own, context);
  if (client) return client;
  const { namespace, async: isAsync } = own;
  const item = { type: "function_call", call_id: call.id, name: call.tool, arguments: JSON.stringify(call.input) };
  if (context.provider === "xai") return [{ ...item, id: id ?? call.id, status: "completed" }];
  return [
    {
      ...item,
      ...(isAsync === undefined ? {} : { async: isAsync }),
      ...(namespace === undefined ? {} : { namespace }),
      ...callerField(own.caller),
    },
  ];
}

/** The program of the model that made a call. */
function callerField(caller: Json | undefined): RequestItem {
  if (caller === undefined) return {};
  const { type, callerId } = caller as { readonly type?: Json; readonly callerId?: Json };
  return { caller: type === "program" ? { type, caller_id: callerId } : caller };
}

function resultItem(result: PromptResult, context: ItemContext): RequestItem {
  const { text, files } = encodableResult(result, context.takes);
  const type = context.kinds.get(result.tool) === "custom" ? "custom_tool_call_output" : "function_call_output";
  const isFailed = result.failed && context.provider !== "xai";
  const output =
    files.length > 0
      ? [{ type: "input_text", text }, ...files.map((file) => resultFile(file))]
      : isFailed
        ? JSON.stringify({ error: text })
        : text;
  return { type, call_id: result.call, output };
}

function resultFile(file: FilePart): RequestItem {
  return file.mediaType.startsWith("image/")
    ? { type: "input_image", image_url: dataAddress(file) }
    : { type: "input_file", filename: file.name ?? "data", file_data: dataAddress(file) };
}

/** Ids of files that the user has uploaded to the provider, in place of their bytes. */
const FILE_IDS: Readonly<Record<ResponsesProvider, RegExp | undefined>> = {
  openai: /^file-/,
  azure: /^assistant-/,
  xai: undefined,
};

function userFile(file: FilePart, index: number, { provider, sendsAllFiles }: ItemContext): RequestItem {
  const { mediaType, name, data } = file;
  const type = mediaType.startsWith("image/") ? "input_image" : "input_file";
  if (data !== undefined && FILE_IDS[provider]?.test(data)) return { type, file_id: data };
  if (type === "input_image") return { type, image_url: dataAddress(file) };
  if (data === undefined) return { type, file_url: dataAddress(file) };
  const isPdf = mediaType === PDF;
  if (provider === "xai" || !(isPdf || sendsAllFiles)) {
    const fact = `${provider} does not take the file ${name ?? "without a name"} (${mediaType})`;
    const advice = provider === "xai" ? "pass its address" : "send its text, an image or a PDF";
    throw new ModelError("invalid-request", { fact, advice });
  }
  return { type, filename: name ?? `part-${index}${isPdf ? ".pdf" : ""}`, file_data: dataAddress(file) };
}

/** Throws `ModelError` if a file has neither bytes nor an address. */
function dataAddress({ mediaType, name = "without a name", data, url }: FilePart): string {
  if (data !== undefined) return `data:${mediaType};base64,${data}`;
  if (url === undefined) throw new ModelError("invalid-request", `The file ${name} has neither data nor a URL.`);
  if (URL.canParse(url)) return new URL(url).toString();
  throw new ModelError("invalid-request", `The file ${name} has an invalid URL: ${url.slice(0, 100)}`);
}
