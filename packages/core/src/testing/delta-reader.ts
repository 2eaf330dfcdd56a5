import { type Cursor, cursorOf, type FeedItem } from "../conversation/feed-item.ts";
import type { ConversationState } from "../conversation/state.ts";

/** A client that reads nothing but deltas of text, and remembers where it is: for tests of what it must have (W81). */
export class DeltaReader {
  /** How often a delta said again what was there, or took it back. */
  again = 0;
  cursor: Cursor | undefined;
  readonly #parts: Map<string, string>;

  constructor(cursor?: Cursor, parts?: ReadonlyMap<string, string>) {
    this.cursor = cursor;
    this.#parts = new Map(parts);
  }

  /** Another one that has read the same. */
  copy(): DeltaReader {
    return new DeltaReader(this.cursor, this.#parts);
  }

  take(item: FeedItem): void {
    this.cursor = cursorOf(item) ?? this.cursor;
    if (item.type !== "text.delta" && item.type !== "reasoning.delta") return;
    const place = `${item.message} ${item.part}`;
    const text = this.#parts.get(place) ?? "";
    const begins = item.begins ?? text.length;
    // An empty one only says where the part ends.
    if (begins > text.length && item.text !== "")
      throw new Error(`${place} goes on at ${begins}, and ${text.length} of it were told.`);
    if (begins < text.length) this.again++;
    this.#parts.set(place, text.slice(0, begins) + item.text);
  }

  /** Where its text is another than that of a conversation, in words. */
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
