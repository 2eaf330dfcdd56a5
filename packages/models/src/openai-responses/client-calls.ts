import { isJsonRecord, type JsonRecord, parseJsonText } from "@banyan/core/shown";
import { textAt } from "../wire/json.ts";
import { shellAction } from "./hosted-actions.ts";
import type { ItemData } from "./item.ts";

/** A whole call that the caller must run. */
export interface WrittenCall {
  readonly id: string;
  /** The provider's name of the tool. */
  readonly tool: string;
  /** JSON of the arguments. */
  readonly input: string;
  readonly own: ItemData;
}

/** Returns the call in an item, if OpenAI defines the call's tool and the caller runs it. Otherwise returns nothing. */
export function clientCall(item: JsonRecord): WrittenCall | undefined {
  const id = textAt(item, "call_id") || textAt(item, "id");
  const call = (tool: string, input: unknown): WrittenCall => {
    return { id, tool, input: JSON.stringify(input), own: itemOwn(item) };
  };
  switch (item.type) {
    case "custom_tool_call":
      return call(textAt(item, "name"), item.input ?? "");
    case "tool_search_call":
      return call("tool_search", { arguments: item.arguments, call_id: id });
    case "shell_call":
      return call("shell", { action: shellAction(item.action) });
    case "local_shell_call": {
      const { command, timeout_ms, user, working_directory, env } = isJsonRecord(item.action) ? item.action : {};
      const action = { command, timeoutMs: timeout_ms, user, workingDirectory: working_directory, env };
      return call("local_shell", { action: { type: "exec", ...action } });
    }
    case "apply_patch_call":
      // A patch that is not complete must not be applied.
      return item.status === "completed" ? call("apply_patch", { callId: id, operation: item.operation }) : undefined;
    case "computer_call":
      return call("computer", computerInput(item));
    default:
      return undefined;
  }
}

/** The provider data that later requests send back with a call. */
export function itemOwn(item: JsonRecord): ItemData {
  const { id, async: isAsync, namespace, caller } = item;
  const program = isJsonRecord(caller) && caller.type === "program";
  return {
    ...(typeof id === "string" ? { itemId: id } : {}),
    ...(typeof isAsync === "boolean" ? { async: isAsync } : {}),
    ...(typeof namespace === "string" ? { namespace } : {}),
    ...(program ? { caller: { type: "program", callerId: textAt(caller, "caller_id") } } : {}),
    ...(isJsonRecord(caller) && !program ? { caller: caller as ItemData } : {}),
  };
}

function computerInput({ action, actions, pending_safety_checks, status }: JsonRecord): object {
  const all: readonly unknown[] = Array.isArray(actions) ? actions : isJsonRecord(action) ? [action] : [];
  const checks = Array.isArray(pending_safety_checks) ? pending_safety_checks.filter(isJsonRecord) : [];
  return {
    actions: all.filter(isJsonRecord).map(({ scroll_x, scroll_y, keys, ...rest }) => ({
      ...rest,
      ...(rest.type === "scroll" ? { scrollX: scroll_x, scrollY: scroll_y } : {}),
      ...(keys == null ? {} : { keys }),
    })),
    pendingSafetyChecks: checks.map(({ id, code, message }) => ({
      id,
      ...(code == null ? {} : { code }),
      ...(message == null ? {} : { message }),
    })),
    status,
  };
}

/**
 * Some models of OpenAI call a tool `parallel`, which the request does not offer. The arguments of this call contain
 * other calls. Returns these other calls, or nothing if one of them calls no tool of the request.
 */
export function parallelCalls(
  { id, input, itemId }: { readonly id: string; readonly input: string; readonly itemId: string },
  offered: ReadonlySet<string>,
): readonly WrittenCall[] | undefined {
  const value = parseJsonText(input);
  const uses: readonly unknown[] = isJsonRecord(value) && Array.isArray(value.tool_uses) ? value.tool_uses : [];
  const calls = uses.flatMap((use, index): WrittenCall[] => {
    if (!isJsonRecord(use) || !isJsonRecord(use.parameters)) return [];
    const [, tool = ""] = /^functions\.(.+)$/.exec(textAt(use, "recipient_name")) ?? [];
    if (!offered.has(tool)) return [];
    const first: ItemData = index === 0 ? { input } : {};
    const own: ItemData = { itemId, toolCallId: id, toolName: PARALLEL, ...first, index, count: uses.length };
    return [{ id: `${id}_${index}`, tool, input: JSON.stringify(use.parameters), own: { parallelToolCall: own } }];
  });
  return calls.length > 0 && calls.length === uses.length ? calls : undefined;
}

export const PARALLEL = "parallel";
