import type { FilePart, ReasoningPart, UserPart } from "../part.ts";
import { type ChatPart, fileAddress, filesHeading, openAiChatPart } from "./file-parts.ts";
import { type HistoryMessage, type HistoryPart, partsForModel, resultOf, soleText } from "./history-message.ts";

/** A message of OpenAI's chat completions. See {@link writeHistory}. */
export type OpenAiChatMessage =
  | { role: "user"; content: string | ChatPart[] }
  | { role: "assistant"; content: string | null; tool_calls?: ChatCall[] }
  | { role: "tool"; tool_call_id: string; content: string };

type ChatCall = {
  id: string;
  type: "function";
  function: { name: string /** JSON of an object, as the model wrote it. */; arguments: string };
};

/**
 * Writes a history as messages of OpenAI's chat completions. Leaves out reasoning, cited sources and files of
 * responses. Files of results follow in a user message.
 */
export function writeOpenAiChat(history: readonly HistoryMessage[]): OpenAiChatMessage[] {
  return history.flatMap(({ role, parts }): OpenAiChatMessage[] => {
    if (role === "user") return [{ role, content: soleText(parts) ?? parts.map(openAiChatPart) }];
    const content = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    const calls = parts.filter((part) => part.type === "call");
    if (calls.length === 0) return content === "" ? [] : [{ role, content }];
    const made = calls.map(({ id, tool, inputText }): ChatCall => {
      return { id, type: "function", function: { name: tool, arguments: inputText || "{}" } };
    });
    const results = calls.map((call): OpenAiChatMessage => {
      return { role: "tool", tool_call_id: call.id, content: resultOf(call).output };
    });
    const behind = calls.flatMap((call): ChatPart[] => {
      const { files } = resultOf(call);
      const heading = filesHeading({ call: call.id, tool: call.tool });
      return files.length === 0 ? [] : [{ type: "text", text: heading }, ...files.map(openAiChatPart)];
    });
    return [
      { role, content: content || null, tool_calls: made },
      ...results,
      ...(behind.length > 0 ? [{ role: "user" as const, content: behind }] : []),
    ];
  });
}

type ItemPart =
  | { type: "input_text"; text: string }
  | { type: "input_image"; image_url: string; detail: "auto" }
  | { type: "input_file"; filename: string; file_data: string }
  | { type: "input_file"; file_url: string };

/** An item of OpenAI's responses. */
export type OpenAiItem =
  | { role: "user"; content: string | ItemPart[] }
  | { role: "assistant"; content: string }
  | ReasoningItem
  | { type: "function_call"; call_id: string; name: string; arguments: string }
  | { type: "function_call_output"; call_id: string; output: string | ItemPart[] };

interface ReasoningItem {
  type: "reasoning";
  id: string;
  summary: { type: "summary_text"; text: string }[];
  encrypted_content?: string;
}

/**
 * Writes a history as items of OpenAI's responses. Leaves out cited sources, files of responses, and reasoning from
 * other sources, because each item of reasoning needs an id of OpenAI.
 */
export function writeOpenAiItems(history: readonly HistoryMessage[]): OpenAiItem[] {
  return history.flatMap(({ role, parts }): OpenAiItem[] => {
    if (role === "user") return [{ role, content: soleText(parts) ?? parts.map(itemPart) }];
    const said: OpenAiItem[] = [];
    for (const part of partsForModel(parts, ["text", "call"])) addItem(said, part);
    const outputs = parts.flatMap((part): OpenAiItem[] => {
      if (part.type !== "call") return [];
      const { output, files } = resultOf(part);
      const texts: ItemPart[] = output === "" ? [] : [{ type: "input_text", text: output }];
      const shown = files.length === 0 ? output : [...texts, ...files.map(itemPart)];
      return [{ type: "function_call_output", call_id: part.id, output: shown }];
    });
    return [...said, ...outputs];
  });
}

function addItem(items: OpenAiItem[], part: HistoryPart): void {
  if (part.type === "text") items.push({ role: "assistant", content: part.text });
  else if (part.type === "call")
    items.push({ type: "function_call", call_id: part.id, name: part.tool, arguments: part.inputText || "{}" });
  else if (part.type === "reasoning") addReasoning(items, part);
}

/** The paragraphs of one reasoning are separate parts with the same id. */
function addReasoning(items: OpenAiItem[], { text, provider }: ReasoningPart): void {
  const { itemId: id, reasoningEncryptedContent: encrypted } = provider?.openai ?? {};
  if (typeof id !== "string") return;
  const last = items.at(-1);
  const isOpen = last !== undefined && "summary" in last && last.id === id;
  const item: ReasoningItem = isOpen ? last : { type: "reasoning", id, summary: [] };
  if (!isOpen) items.push(item);
  if (text !== "") item.summary.push({ type: "summary_text", text });
  if (typeof encrypted === "string") item.encrypted_content = encrypted;
}

function itemPart(part: UserPart | FilePart): ItemPart {
  if (part.type === "text") return { type: "input_text", text: part.text };
  if (part.mediaType.startsWith("image/")) return { type: "input_image", image_url: fileAddress(part), detail: "auto" };
  if (part.data === undefined) return { type: "input_file", file_url: part.url ?? "" };
  return { type: "input_file", filename: part.name ?? "file", file_data: fileAddress(part) };
}
