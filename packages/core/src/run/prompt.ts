import { writtenInput } from "../conversation/checked/written-input.ts";
import {
  type AssistantMessage,
  type Call,
  isEnded,
  isSettled,
  type Message,
  shownOutput,
} from "../conversation/message.ts";
import type { Json } from "../conversation/part.ts";
import { isJsonRecord } from "../conversation/shape-problem.ts";
import { recalledAsPast } from "../conversation/shown/enclosed-text.ts";
import { summaryTexts } from "../conversation/shown/kept-words.ts";
import { afterSummary, isSummary } from "../conversation/tree/path.ts";
import type { PromptCall, PromptMessage, PromptResult } from "../ports/model.ts";

const CONTINUE: PromptMessage = {
  role: "user",
  parts: [{ type: "text", text: "Go on from where your last answer stopped." }],
};

const NO_RESULTS: readonly PromptResult[] = [];

/** Prompts of messages that cannot change, so that drivers encode them once for all turns along a path. */
const settled = new WeakMap<Message, PromptMessage | null>();

/**
 * Returns the prompt for a path, always the same for the same path. A call without a result gets the reason why it did
 * not run. Messages that the nearest summary covers are left out, except the user's words that it keeps.
 * @example const prompt = promptFrom(pathTo(session.state, session.state.leaf));
 */
export function promptFrom(path: readonly Message[]): PromptMessage[] {
  const prompt: PromptMessage[] = [];
  for (const message of afterSummary(path)) {
    let shown = settled.get(message);
    if (shown === undefined) {
      shown = promptMessage(message, path);
      // The texts of a summary also depend on the messages above it.
      if (isSettled(message) && message.role !== "summary") settled.set(message, shown);
    }
    if (shown) prompt.push(shown);
  }
  return prompt;
}

/** True if the prompt includes a message. It leaves out unreadable messages and responses of reasoning alone. */
export function isInPrompt(message: Message): boolean {
  if (message.role === "summary") return isSummary(message);
  if (message.role !== "assistant") return message.unreadable === undefined;
  return message.parts.some((part) => {
    if (part.type === "call") return message.calls.some((call) => call.id === part.call);
    return part.type === "text" || part.type === "provider";
  });
}

/** Adds a new message of the path to its prompt, unless the message has no content. */
export function appendTo(prompt: PromptMessage[], message: Message): void {
  const shown = promptMessage(message, []);
  if (shown) prompt.push(shown);
}

/** Returns a prompt that a model can answer. To a response at the end, adds a request to continue if needed. */
export function withContinuation(prompt: readonly PromptMessage[]): readonly PromptMessage[] {
  const last = prompt.at(-1);
  return last?.role === "assistant" && last.results.length === 0 && !last.paused ? [...prompt, CONTINUE] : prompt;
}

function promptMessage(message: Message, path: readonly Message[]): PromptMessage | null {
  // Half a message may mislead a model (F77), and providers refuse a response of reasoning alone.
  if (!isInPrompt(message)) return null;
  switch (message.role) {
    case "user": {
      const recalled = message.recalled?.filter(({ dismissed }) => !dismissed) ?? [];
      if (recalled.length === 0) return { role: "user", parts: message.parts };
      return { role: "user", parts: [{ type: "text", text: recalledAsPast(recalled) }, ...message.parts] };
    }
    case "summary":
      return { role: "user", parts: [{ type: "text", text: summaryTexts(message, path).join("\n\n") }] };
    case "assistant":
      return promptAssistant(message);
  }
}

function promptAssistant(message: AssistantMessage): PromptMessage | null {
  const calls = new Map(message.calls.map((call) => [call.id, call]));
  const parts: Extract<PromptMessage, { role: "assistant" }>["parts"][number][] = [];
  const results: PromptResult[] = [];
  for (const part of message.parts) {
    if (part.type === "text" || part.type === "reasoning" || part.type === "provider") parts.push(part);
    if (part.type !== "call") continue;
    const call = calls.get(part.call);
    if (!call) continue;
    const input = asObject(writtenInput(call.inputText));
    const { id, via } = call;
    const written = via === undefined ? { tool: call.tool, input } : { tool: via, input: { tool: call.tool, input } };
    const asked: PromptCall = { type: "call", id, ...written };
    parts.push(part.provider ? { ...asked, provider: part.provider } : asked);
    const result = { call: id, tool: asked.tool, output: promptResult(call), failed: call.status !== "completed" };
    results.push(call.files ? { ...result, files: call.files } : result);
  }
  // Providers refuse a response that ends with reasoning.
  while (parts.at(-1)?.type === "reasoning") parts.pop();
  // An array that grows has room for 17 entries, and prompts stay in memory as long as their messages.
  const exact = { parts: parts.slice(), results: results.length === 0 ? NO_RESULTS : results.slice() };
  const response = { role: "assistant", ...exact, model: message.model } as const;
  if (message.finish === "paused") return { ...response, paused: true };
  const finished = message.finish !== undefined && message.finish !== "interrupted" && message.finish !== "error";
  return finished ? response : { ...response, unfinished: true };
}

function promptResult(call: Call): string {
  if (isEnded(call.status)) return shownOutput(call);
  return call.status === "executing"
    ? "The process stopped while this call ran; whether the call took effect is unknown."
    : "Not executed: the process stopped before this call ran.";
}

/** Providers accept only objects as arguments, so other values become an empty object. */
function asObject(input: Json | undefined): Json {
  return isJsonRecord<Readonly<Record<string, Json>>>(input) ? input : {};
}
