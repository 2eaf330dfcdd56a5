import type { Json } from "@banyan/core";
import type { PromptCall } from "@banyan/core/drivers";
import { isJsonRecord } from "@banyan/core/shown";
import type { ItemContext, ItemData, RequestItem } from "./item.ts";
import { snakeCase } from "./server-tools.ts";

type JsonObject = Readonly<Record<string, Json>>;

/** Tools of OpenAI whose calls the caller runs, with items of their own. */
const CLIENT_KINDS: ReadonlySet<string> = new Set(["local_shell", "shell", "apply_patch", "computer", "tool_search"]);

/** Encodes a call, if OpenAI defines the call's tool and the caller runs it. Otherwise returns nothing. */
export function clientItems(
  { id: callId, tool, input }: PromptCall,
  id: string | undefined,
  own: ItemData,
  { kinds, stores, followsResponse }: ItemContext,
): readonly RequestItem[] | undefined {
  const kind = kinds.get(tool) ?? "";
  if (kind !== "custom" && !CLIENT_KINDS.has(kind)) return undefined;
  if (stores && id !== undefined) return followsResponse ? [] : [{ type: "item_reference", id }];
  if (kind === "custom") {
    const isAsync = own.async === undefined ? {} : { async: own.async };
    return [{ type: "custom_tool_call", call_id: callId, name: tool, input: JSON.stringify(input), ...isAsync, id }];
  }
  const { status = "completed", ...fields } = snakeCase(input) as JsonObject;
  return [
    {
      ...(kind === "tool_search" ? { execution: "client" } : {}),
      ...(kind === "local_shell" ? {} : { status }),
      ...fields,
      type: `${kind}_call`,
      // OpenAI knows the kind of an id by its first letters, so the id of the call is none of the item.
      id: kind === "tool_search" ? (id ?? callId) : id,
      call_id: callId,
    },
  ];
}

/**
 * Encodes an action of the provider in the form in which it was kept: a call, a result, or compacted content. Returns
 * nothing for an action that the API does not accept back.
 */
export function hostedItems(action: Json, context: ItemContext): readonly RequestItem[] {
  const { provider, kinds, stores, inConversation } = context;
  if (provider === "xai" || !isJsonRecord<JsonObject>(action)) return [];
  const options = isJsonRecord<JsonObject>(action.providerOptions) ? action.providerOptions : {};
  const own = isJsonRecord<JsonObject>(options[provider]) ? (options[provider] as JsonObject) : {};
  const { itemId } = own;
  if (inConversation && (itemId !== undefined || action.type === "tool-result")) return [];
  if (action.type === "custom") {
    if (action.kind !== "openai.compaction" || itemId === undefined) return [];
    if (stores) return [{ type: "item_reference", id: itemId }];
    return [{ type: "compaction", id: itemId, encrypted_content: own.encryptedContent }];
  }
  const tool = String(action.toolName);
  const kind = kinds.get(tool) ?? tool;
  // The API refuses items of tools that the request does not offer.
  if ((kind === "shell" || kind === "tool_search") && !kinds.has(tool)) return [];
  const isCall = action.type === "tool-call";
  if (stores && !(kind === "shell" && !isCall)) {
    if (isCall && itemId === undefined) return [];
    return [{ type: "item_reference", id: itemId ?? action.toolCallId }];
  }
  const item = isCall ? hostedCall(kind, action, itemId) : hostedResult(kind, action, itemId);
  return item ? [item] : [];
}

function hostedCall(
  kind: string,
  { toolCallId, input }: JsonObject,
  itemId: Json | undefined,
): RequestItem | undefined {
  if (!isJsonRecord<JsonObject>(input)) return undefined;
  const id = itemId ?? toolCallId;
  switch (kind) {
    case "tool_search": {
      const { call_id = null } = input;
      const execution = call_id === null ? "server" : "client";
      return { type: "tool_search_call", id, execution, call_id, status: "completed", arguments: input.arguments };
    }
    case "programmatic_tool_calling":
      return { type: "program", id, call_id: toolCallId, code: input.code, fingerprint: input.fingerprint };
    case "shell":
      return { type: "shell_call", id, call_id: toolCallId, status: "completed", ...(snakeCase(input) as JsonObject) };
    default:
      return undefined;
  }
}

function hostedResult(
  kind: string,
  { toolCallId, output }: JsonObject,
  itemId: Json | undefined,
): RequestItem | undefined {
  if (!isJsonRecord<JsonObject>(output) || output.type !== "json" || !isJsonRecord<JsonObject>(output.value)) return;
  const { value } = output;
  const id = itemId ?? toolCallId;
  switch (kind) {
    case "web_search":
    case "web_search_preview":
      return webSearchItem(value, id);
    case "tool_search":
      return {
        type: "tool_search_output",
        id,
        execution: "server",
        call_id: null,
        status: "completed",
        tools: value.tools,
      };
    case "programmatic_tool_calling":
      return { type: "program_output", id, call_id: toolCallId, result: value.result, status: value.status };
    case "shell":
      return { type: "shell_call_output", call_id: toolCallId, ...(snakeCase(value) as JsonObject) };
    default:
      return undefined;
  }
}

const ACTIONS: Readonly<Record<string, string>> = { openPage: "open_page", findInPage: "find_in_page" };

function webSearchItem({ action, sources }: JsonObject, id: Json | undefined): RequestItem | undefined {
  if (!isJsonRecord<JsonObject>(action)) return undefined;
  const type = ACTIONS[String(action.type)] ?? action.type;
  const found = sources === undefined ? {} : { sources };
  return { type: "web_search_call", id, status: "completed", action: { ...action, type, ...found } };
}
