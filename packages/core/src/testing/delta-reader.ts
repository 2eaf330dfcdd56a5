import { type Cursor, cursorOf, type FeedItem } from "../conversation/feed-item.ts";
import type { ConversationState } from "../conversation/state.ts";

/**
 * A client that reads only deltas of text and keeps its cursor. A test compares its text with the conversation (W81).
 * @example
 * const reader = new DeltaReader();
 * for await (const item of agent.chat(say("Hello"), { session })) reader.take(item);
 */
export class DeltaReader {
  /** Number of deltas that repeated or withdrew text. */
  again = 0;
  cursor: Cursor | undefined;
  readonly #parts: Map<string, string>;

  constructor(cursor?: Cursor, parts?: ReadonlyMap<string, string>) {
    this.cursor = cursor;
    this.#parts = new Map(parts);
  }

  copy(): DeltaReader {
    return new DeltaReader(this.cursor, this.#parts);
  }

  take(item: FeedItem): void {
    this.cursor = cursorOf(item) ?? this.cursor;
    if (item.type !== "text.delta" && item.type !== "reasoning.delta") return;
    const place = `${item.message} ${item.part}`;
    const text = this.#parts.get(place) ?? "";
    const begins = item.begins ?? text.length;
    // An empty delta only reports the end of the part.
    if (begins > text.length && item.text !== "")
      throw new Error(`${place} goes on at ${begins}, and ${text.length} of it were told.`);
    if (begins < text.length) this.again++;
    this.#parts.set(place, text.slice(0, begins) + item.text);
  }

  /** Returns the differences from the texts of a conversation, one sentence each. */
  differences(state: ConversationState): string[] {
    return [...state.messages.values()].flatMap((message) => {
      if (message.role !== "assistant") return [];
      return message.parts.flatMap((part, index) => {
        const told = this.#parts.get(`${message.id} ${index}`) ?? "";
        if (!("text" in part) || part.text === told) return [];
        return [
          `Of part ${index} of ${message.id} it has ${told.length} of ${part.text.length} units: ${told.slice(-40)}`,
        ];
      });
    });
  }
}
