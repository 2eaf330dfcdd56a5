import type { KeyBindings } from "../keys/key-bindings.ts";

/** The selection of a list, and its visible part. */
export class ListCursor {
  index: number;
  #top = 0;
  #rows = 1;

  constructor(index = 0) {
    this.index = index;
  }

  /** Moves the selection, around both ends. Returns whether the key was used. */
  key(key: string, keys: KeyBindings, count: number): boolean {
    const last = count - 1;
    if (keys.matches(key, "list-up")) this.index = this.index <= 0 ? last : this.index - 1;
    else if (keys.matches(key, "list-down")) this.index = this.index >= last ? 0 : this.index + 1;
    else if (keys.matches(key, "list-page-up")) this.index -= this.#rows;
    else if (keys.matches(key, "list-page-down")) this.index += this.#rows;
    else if (keys.matches(key, "list-first")) this.index = 0;
    else if (keys.matches(key, "list-last")) this.index = last;
    else return false;
    this.index = Math.max(0, Math.min(last, this.index));
    return true;
  }

  window<Item>(items: readonly Item[], rows: number): { readonly item: Item; readonly isCurrent: boolean }[] {
    this.#rows = rows;
    this.index = Math.max(0, Math.min(items.length - 1, this.index));
    this.#top = Math.max(this.index - rows + 1, Math.min(this.#top, this.index));
    this.#top = Math.max(0, Math.min(this.#top, items.length - rows));
    return items
      .slice(this.#top, this.#top + rows)
      .map((item, row) => ({ item, isCurrent: this.#top + row === this.index }));
  }
}
