import type { JsonRecord } from "@banyan/core/shown";

// Events: https://platform.openai.com/docs/api-reference/responses-streaming.

/** Fields that the decoder reads in an event with a fragment. */
export const MEANINGFUL: ReadonlySet<string> = new Set([
  ...["type", "delta", "output_index", "item_id", "content_index", "summary_index"],
  ...["error", "object", "response", "message", "detail"],
]);

/** Events with the next fragment of an item. */
export const DELTAS: ReadonlySet<string> = new Set([
  "response.output_text.delta",
  "response.refusal.delta",
  "response.reasoning_summary_text.delta",
  "response.reasoning_text.delta",
  "response.function_call_arguments.delta",
]);

/**
 * Events with a whole text, and their fields with the text. The text is used only if none of its fragments arrived
 * (F54).
 */
export const WHOLES: Readonly<Record<string, string>> = {
  "response.output_text.done": "text",
  "response.refusal.done": "refusal",
  "response.reasoning_summary_text.done": "text",
  "response.reasoning_text.done": "text",
  "response.function_call_arguments.done": "arguments",
};

/** Ends of an answer, by type of event. `response.done` is xAI's. */
export const ENDS = /^response\.(completed|incomplete|failed|cancelled|done)$/;

/** Returns the paragraph of reasoning that an event belongs to. */
export function paragraphOf({ summary_index, content_index }: JsonRecord): number {
  const index = summary_index ?? content_index;
  return typeof index === "number" ? index : 0;
}
