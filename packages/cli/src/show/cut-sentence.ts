import type { Event } from "@banyan/core";
import { oneLine } from "./plain-text.ts";

/** Why an answer is not a whole one though nothing failed; nothing when it is one. */
export function cutSentence(completed: Extract<Event, { type: "message.completed" }>): string | undefined {
  if (completed.finish === "length") return "The answer was cut off at the limit of its length.";
  if (completed.finish !== "filtered") return undefined;
  return `The provider refused this or cut it off${completed.error ? `: ${oneLine(completed.error)}` : "."}`;
}
