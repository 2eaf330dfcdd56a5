import { openRun, readableParts } from "@banyan/client/display";
import { type ConversationState, isUserMessage, latestRun, pathTo } from "@banyan/core/conversation";
import type { UiChunk } from "./chunk.ts";
import { UiTurn, uiPartsOf } from "./turn.ts";

interface UiMessage {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly metadata?: unknown;
  readonly parts: object[];
}

/**
 * Returns the current branch as UI messages. Leaves out a turn that works or waits, because the stream sends it. A turn
 * is one message, including the user messages that arrived during the turn.
 */
export function uiHistory(state: ConversationState): UiMessage[] {
  const messages: UiMessage[] = [];
  const told = new Set<string>();
  for (const each of state.leaf === null ? [] : pathTo(state, state.leaf)) {
    if (isUserMessage(each) && !told.has(each.id))
      messages.push({ id: each.id, role: "user", parts: uiPartsOf(readableParts(each)) });
    if (each.role !== "assistant") continue;
    const run = latestRun(state, each.run);
    if (told.has(run)) continue;
    told.add(run);
    const chunks = new UiTurn(run).takeUp(state, run);
    for (const chunk of chunks) if (chunk.type === "steering-message") told.add(chunk.id);
    if (!openRun(state, run)) messages.push({ id: each.id, role: "assistant", parts: uiParts(chunks) });
  }
  return messages;
}

function uiParts(chunks: readonly UiChunk[]): object[] {
  const parts: Record<string, unknown>[] = [];
  const texts = new Map<string, { text: string }>();
  const calls = new Map<string, Record<string, unknown>>();
  for (const chunk of chunks) {
    switch (chunk.type) {
      case "start-step":
        parts.push({ type: "step-start" });
        break;
      case "text-start":
      case "reasoning-start": {
        const text = { type: chunk.type === "text-start" ? "text" : "reasoning", text: "", state: "done" };
        texts.set(chunk.id, text);
        parts.push(text);
        break;
      }
      case "text-delta":
      case "reasoning-delta": {
        const text = texts.get(chunk.id);
        if (text) text.text += chunk.delta;
        break;
      }
      case "tool-input-available": {
        const { toolCallId, toolName, input } = chunk;
        const call = { type: "dynamic-tool", toolName, toolCallId, state: "input-available", input };
        calls.set(toolCallId, call);
        parts.push(call);
        break;
      }
      case "tool-output-available":
        Object.assign(calls.get(chunk.toolCallId) ?? {}, { state: "output-available", output: chunk.output });
        break;
      case "tool-output-error":
        Object.assign(calls.get(chunk.toolCallId) ?? {}, { state: "output-error", errorText: chunk.errorText });
        break;
      case "steering-message":
      case "file":
      case "source-url":
      case "data-file":
        parts.push({ ...chunk });
        break;
    }
  }
  return parts;
}
