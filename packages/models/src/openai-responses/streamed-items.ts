import type { Json } from "@banyan/core";
import { isJsonRecord, type JsonRecord } from "@banyan/core/shown";

/** An item of an answer. Its id may differ between events, but its index stays. */
export interface StreamedItem {
  /** The item as its first event contained it. */
  readonly first: JsonRecord;
  readonly annotations: Json[];
  /** Paragraphs whose text has arrived. Text of a message is paragraph 0. */
  readonly said: Set<number>;
  /** The item as its end has it. */
  whole: JsonRecord | undefined;
}

/** The items of one answer. A place identifies an item: its index, or else its id. */
export class StreamedItems {
  readonly #items = new Map<unknown, StreamedItem>();
  readonly #places = new Map<unknown, unknown>();
  #newest: unknown;

  get isEmpty(): boolean {
    return this.#items.size === 0;
  }

  /** Returns the place of an event's item. Some servers send only the id of the item, or neither (F54). */
  placeOf({ output_index: index, item_id, item }: JsonRecord): unknown {
    const id = isJsonRecord(item) ? item.id : item_id;
    return index ?? (id == null ? this.#newest : (this.#places.get(id) ?? id));
  }

  at(place: unknown): StreamedItem | undefined {
    return this.#items.get(place);
  }

  begin(place: unknown, first: JsonRecord): StreamedItem {
    const item: StreamedItem = { first, annotations: [], said: new Set(), whole: undefined };
    this.#items.set(place, item);
    if (first.id != null) this.#places.set(first.id, place);
    this.#newest = place;
    return item;
  }

  /** True if the same end of an item has arrived before. */
  isRepeated(place: unknown, end: JsonRecord): boolean {
    const whole = this.#items.get(place)?.whole;
    return whole !== undefined && JSON.stringify(whole) === JSON.stringify(end);
  }

  /** Returns the place of an item whose end has not arrived. */
  unendedPlace({ id }: JsonRecord): unknown {
    const place = id == null ? undefined : this.#places.get(id);
    return this.#items.get(place)?.whole === undefined ? place : undefined;
  }
}
