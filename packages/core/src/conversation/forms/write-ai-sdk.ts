import type { FilePart, ProviderData, UserPart } from "../part.ts";
import { fileAddress } from "./file-parts.ts";
import {
  type HistoryCall,
  type HistoryMessage,
  type HistoryPart,
  type HistoryResponse,
  type HistoryUserMessage,
  inputObject,
  partsForModel,
  resultOf,
  soleText,
} from "./history-message.ts";

type SdkObject = { [name: string]: SdkJson };
type SdkJson = string | number | boolean | null | SdkJson[] | SdkObject;
/** Data that a provider needs back. */
type SdkOptions = { providerOptions?: Record<string, SdkObject> };
type SdkText = { type: "text"; text: string } & SdkOptions;
type SdkFile = { type: "file"; data: string; mediaType: string; filename?: string };
type SdkCall = { type: "tool-call"; toolCallId: string; toolName: string; input: unknown } & SdkOptions;
type SdkResultFile = { type: "file"; data: { type: "data"; data: string }; mediaType: string; filename?: string };
type SdkOutput =
  | { type: "text" | "error-text"; value: string }
  | { type: "execution-denied"; reason: string }
  | { type: "content"; value: ({ type: "text"; text: string } | SdkResultFile)[] };

/** A `ModelMessage` of the AI SDK. */
export type AiSdkMessage =
  | { role: "user"; content: string | (SdkText | SdkFile)[] }
  | {
      role: "assistant";
      content: string | (SdkText | ({ type: "reasoning"; text: string } & SdkOptions) | SdkFile | SdkCall)[];
    }
  | { role: "tool"; content: { type: "tool-result"; toolCallId: string; toolName: string; output: SdkOutput }[] };

/** Writes a history as `ModelMessage`s of the AI SDK. Leaves out cited sources. */
export function writeAiSdk(history: readonly HistoryMessage[]): AiSdkMessage[] {
  return history.flatMap((message): AiSdkMessage[] => {
    const { role } = message;
    if (role === "user") return [{ role, content: soleText(message.parts) ?? message.parts.map(userPart) }];
    const parts = partsForModel(message.parts, ["text", "call", "file"]);
    const content = soleText(parts) ?? parts.flatMap(responsePart);
    const results = parts.flatMap((part) => {
      if (part.type !== "call") return [];
      return [{ type: "tool-result" as const, toolCallId: part.id, toolName: part.tool, output: outputOf(part) }];
    });
    return [
      ...(content.length > 0 ? [{ role, content }] : []),
      ...(results.length > 0 ? [{ role: "tool" as const, content: results }] : []),
    ];
  });
}

type ResponseContent = Exclude<Extract<AiSdkMessage, { role: "assistant" }>["content"], string>;

function userPart(part: UserPart): SdkText | SdkFile {
  return part.type === "text" ? { type: "text", text: part.text, ...options(part) } : filePart(part);
}

function responsePart(part: HistoryPart): ResponseContent {
  switch (part.type) {
    case "text":
    case "reasoning":
      return [{ type: part.type, text: part.text, ...options(part) }];
    case "call":
      return [
        { type: "tool-call", toolCallId: part.id, toolName: part.tool, input: inputObject(part), ...options(part) },
      ];
    case "file":
      return [filePart(part)];
    case "source":
      return [];
  }
}

function filePart({ mediaType, name, data, url }: FilePart): SdkFile {
  return { type: "file", data: data ?? url ?? "", mediaType, ...(name !== undefined && { filename: name }) };
}

function options({ provider }: { readonly provider?: ProviderData }): SdkOptions {
  return provider ? { providerOptions: provider as Record<string, SdkObject> } : {};
}

function outputOf(call: HistoryCall): SdkOutput {
  const { status, output, files } = resultOf(call);
  if (status === "denied") return { type: "execution-denied", reason: output };
  if (files.length === 0) return { type: status === "failed" ? "error-text" : "text", value: output };
  const shown = files.map(({ data = "", mediaType, name }): SdkResultFile => {
    return { type: "file", data: { type: "data", data }, mediaType, ...(name !== undefined && { filename: name }) };
  });
  return { type: "content", value: [...(output === "" ? [] : [{ type: "text" as const, text: output }]), ...shown] };
}

type SdkUiText = { type: "text"; text: string };
type SdkUiFile = { type: "file"; mediaType: string; url: string; filename?: string };
type SdkUiTool = { type: "dynamic-tool"; toolName: string; toolCallId: string; input: unknown } & (
  | { state: "input-available" }
  | { state: "output-available"; output: string | (SdkUiText | SdkUiFile)[] }
  | { state: "output-error"; errorText: string }
  | { state: "output-denied"; approval: { id: string; approved: false; reason: string } }
);

/** A `UIMessage` of the AI SDK. See {@link writeHistory}. */
export interface AiSdkUiMessage {
  id: string;
  role: "user" | "assistant";
  parts: (
    | SdkUiText
    | { type: "text" | "reasoning"; text: string; state: "done" }
    | SdkUiFile
    | SdkUiTool
    | { type: "source-url"; sourceId: string; url: string; title?: string }
    | { type: "steering-message"; id: string; parts: (SdkUiText | SdkUiFile)[] }
    | { type: "step-start" }
  )[];
}

/**
 * Writes a history as `UIMessage`s of the AI SDK. All responses of a turn become one message. This message also
 * contains the user messages that arrived during the turn.
 */
export function writeAiSdkUi(history: readonly HistoryMessage[]): AiSdkUiMessage[] {
  const messages: AiSdkUiMessage[] = [];
  let open: { readonly turn: string | undefined; readonly message: AiSdkUiMessage } | undefined;
  for (const [index, message] of history.entries()) {
    const { role, id = `message-${index + 1}` } = message;
    if (role === "user") {
      const parts = message.parts.map(aiSdkUserPart);
      const steers = open?.turn !== undefined && nextResponse(history, index)?.turn === open.turn;
      if (open && steers) open.message.parts.push({ type: "steering-message", id, parts });
      else {
        messages.push({ id, role, parts });
        open = undefined;
      }
      continue;
    }
    if (!open || open.turn !== message.turn) {
      open = { turn: message.turn, message: { id, role, parts: [] } };
      messages.push(open.message);
    }
    const parts = message.parts.map((part, place) => uiPart(part, `${id}.${place}`));
    open.message.parts.push({ type: "step-start" }, ...parts);
  }
  return messages;
}

function nextResponse(history: readonly HistoryMessage[], index: number): HistoryResponse | undefined {
  for (let at = index + 1; at < history.length; at++) {
    const message = history[at] as HistoryUserMessage | HistoryResponse;
    if (message.role === "assistant") return message;
  }
  return undefined;
}

/**
 * Writes a part of a user message as a part of a `UIMessage`.
 * @example aiSdkUserPart({ type: "text", text: "Hello" }) // { type: "text", text: "Hello" }
 */
export function aiSdkUserPart(part: UserPart): SdkUiText | SdkUiFile {
  return part.type === "text" ? { type: "text", text: part.text } : aiSdkFile(part);
}

function uiPart(part: HistoryPart, id: string): AiSdkUiMessage["parts"][number] {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { type: part.type, text: part.text, state: "done" };
    case "file":
      return aiSdkFile(part);
    case "source":
      return {
        type: "source-url",
        sourceId: id,
        url: part.url,
        ...(part.title !== undefined && { title: part.title }),
      };
    case "call":
      return uiTool(part);
  }
}

function uiTool(call: HistoryCall): SdkUiTool {
  const tool = { type: "dynamic-tool", toolName: call.tool, toolCallId: call.id, input: inputObject(call) } as const;
  if (!call.result) return { ...tool, state: "input-available" };
  const { status, output, files } = call.result;
  switch (status) {
    case "failed":
      return { ...tool, state: "output-error", errorText: output };
    case "denied":
      return { ...tool, state: "output-denied", approval: { id: call.id, approved: false, reason: output } };
    case "completed": {
      const texts: SdkUiText[] = output === "" ? [] : [{ type: "text", text: output }];
      return {
        ...tool,
        state: "output-available",
        output: files.length === 0 ? output : [...texts, ...files.map(aiSdkFile)],
      };
    }
  }
}

/**
 * Writes a file as a part of a `UIMessage`.
 * @example
 * aiSdkFile({ type: "file", mediaType: "image/png", data: "AAAA" }).url // "data:image/png;base64,AAAA"
 */
export function aiSdkFile(file: FilePart): SdkUiFile {
  const { mediaType, name } = file;
  return { type: "file", mediaType, url: fileAddress(file), ...(name !== undefined && { filename: name }) };
}
