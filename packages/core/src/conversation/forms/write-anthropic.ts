import type { FilePart, UserPart } from "../part.ts";
import { type AnthropicDocument, type AnthropicImage, anthropicFile, textForFile } from "./file-parts.ts";
import {
  type HistoryCall,
  type HistoryMessage,
  type HistoryPart,
  inputObject,
  partsForModel,
  resultOf,
  soleText,
} from "./history-message.ts";

type AnthropicText = { type: "text"; text: string };
type ToolUseBlock = { type: "tool_use"; id: string; name: string; input: unknown };
type ToolResultBlock = {
  type: "tool_result";
  tool_use_id: string;
  content: string | (AnthropicText | AnthropicImage | AnthropicDocument)[];
  is_error?: boolean;
};

/** A message of Anthropic. */
export type AnthropicMessage =
  | { role: "user"; content: string | (AnthropicText | AnthropicImage | AnthropicDocument | ToolResultBlock)[] }
  | {
      role: "assistant";
      content: string | (AnthropicText | { type: "thinking"; thinking: string; signature: string } | ToolUseBlock)[];
    };

type ResponseBlock = Exclude<Extract<AnthropicMessage, { role: "assistant" }>["content"], string>[number];

/**
 * Writes a history as messages of Anthropic. Leaves out reasoning without a signature of Anthropic, cited sources and
 * files of responses.
 */
export function writeAnthropic(history: readonly HistoryMessage[]): AnthropicMessage[] {
  return history.flatMap(({ role, parts }): AnthropicMessage[] => {
    if (role === "user") return [{ role, content: soleText(parts) ?? parts.map(userBlock) }];
    const content = soleText(parts) ?? responseBlocks(partsForModel(parts, ["text", "call"]));
    const results = parts.flatMap((part) => (part.type === "call" ? [resultBlock(part)] : []));
    return [
      ...(content.length > 0 ? [{ role, content }] : []),
      ...(results.length > 0 ? [{ role: "user" as const, content: results }] : []),
    ];
  });
}

/** Anthropic wants calls after the text between them. */
function responseBlocks(parts: readonly HistoryPart[]): ResponseBlock[] {
  const said: ResponseBlock[] = [];
  let calls: ResponseBlock[] = [];
  for (const part of parts) {
    if (part.type === "text") said.push({ type: "text", text: part.text });
    else if (part.type === "call")
      calls.push({ type: "tool_use", id: part.id, name: part.tool, input: inputObject(part) });
    const signature = part.type === "reasoning" ? part.provider?.anthropic?.signature : undefined;
    if (part.type !== "reasoning" || typeof signature !== "string") continue;
    said.push(...calls, { type: "thinking", thinking: part.text, signature });
    calls = [];
  }
  return [...said, ...calls];
}

function resultBlock(call: HistoryCall): ToolResultBlock {
  const { status, output, files } = resultOf(call);
  const texts: AnthropicText[] = output === "" ? [] : [{ type: "text", text: output }];
  const content = files.length === 0 ? output : [...texts, ...files.map(fileBlock)];
  return { type: "tool_result", tool_use_id: call.id, content, ...(status !== "completed" && { is_error: true }) };
}

function userBlock(part: UserPart): AnthropicText | AnthropicImage | AnthropicDocument {
  return part.type === "text" ? { type: "text", text: part.text } : fileBlock(part);
}

function fileBlock(file: FilePart): AnthropicText | AnthropicImage | AnthropicDocument {
  return anthropicFile(file) ?? { type: "text", text: textForFile(file) };
}
