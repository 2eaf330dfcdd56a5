import type { Json, Message } from "@banyan/core";

/** What a task came to: the call that ends it says so, and no answer. */
export function taskResult(message: Message | undefined): string {
  const calls = message?.role === "assistant" ? message.calls : [];
  const end = calls.find(({ tool, status }) => tool === "finish_task" && status === "completed");
  const { result = "" } = (end?.executedInput ?? end?.input ?? {}) as { readonly result?: Json };
  return typeof result === "string" ? result : JSON.stringify(result);
}
