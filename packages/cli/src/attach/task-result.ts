import type { Json, Message } from "@banyan/core";

/** What a task came to: the call that ends it says so, and no answer. */
export function taskResult(message: Message | undefined): string {
  const calls = message?.role === "assistant" ? message.calls : [];
  const end = calls.find(({ about, status }) => about?.result !== undefined && status === "completed");
  const input = (end?.executedInput ?? end?.input ?? {}) as Readonly<Record<string, Json>>;
  const { [end?.about?.result ?? ""]: result = "" } = input;
  return typeof result === "string" ? result : JSON.stringify(result);
}
