import type { Event, Part } from "@banyan/core";
import { readableEvent } from "@banyan/core/conversation";

/** The parts of an event that a search needs. */
export type SearchableEvent =
  | { readonly type: "message"; readonly message: string; readonly parentId: string | null }
  | (Text & { readonly type: "text" })
  | { readonly type: "removed"; readonly message: string; readonly removed: boolean };

/** A text of a message, for searches. */
export interface Text {
  readonly message: string;
  readonly role: "user" | "assistant";
  readonly text: string;
}

/** Types of events that `searchableEvents` reads. */
export const SAYING: readonly Event["type"][] = [
  "message.added",
  "message.started",
  "message.completed",
  "message.removed",
  "message.restored",
];

/** Returns the parts of an event for searches: each message, followed by its texts by users and models. */
export function searchableEvents(given: Event): SearchableEvent[] {
  const event = readableEvent(given);
  const { type } = event;
  switch (type) {
    case "message.added": {
      const { message, parentId } = event;
      const said: SearchableEvent[] = [{ type: "message", message, parentId }];
      if (event.role === "user" && (event.author ?? "user") === "user") said.push(...messageText(event, "user"));
      return said;
    }
    case "message.started":
      return [{ type: "message", message: event.message, parentId: event.parentId }];
    case "message.completed":
      return messageText(event, "assistant");
    case "message.removed":
    case "message.restored":
      return [{ type: "removed", message: event.message, removed: type === "message.removed" }];
    default:
      return [];
  }
}

function messageText(
  { message, parts }: { readonly message: string; readonly parts: readonly Part[] },
  role: Text["role"],
): SearchableEvent[] {
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  return text.trim() === "" ? [] : [{ type: "text", message, role, text }];
}
