/**
 * A map of a few entries by id, in the order of insertion. Each operation reads all entries. A long-lived `Map` that
 * becomes empty again and again costs memory in V8, because its old tables stay alive for long.
 */
export class SmallMap<Value> {
  readonly #ids: string[] = [];
  readonly #values: Value[] = [];

  has(id: string): boolean {
    return this.#ids.includes(id);
  }

  get(id: string): Value | undefined {
    const at = this.#ids.indexOf(id);
    // Reading an array at -1 is slow.
    return at < 0 ? undefined : this.#values[at];
  }

  set(id: string, value: Value): void {
    const at = this.#ids.indexOf(id);
    if (at < 0) this.#ids.push(id);
    this.#values[at < 0 ? this.#values.length : at] = value;
  }

  delete(id: string): void {
    const at = this.#ids.indexOf(id);
    if (at < 0) return;
    if (at === this.#ids.length - 1) {
      // `splice` would create an array of the removed entry.
      this.#ids.pop();
      this.#values.pop();
    } else {
      this.#ids.splice(at, 1);
      this.#values.splice(at, 1);
    }
  }

  /** A copy, so that the map may change while its values are read. */
  values(): Value[] {
    return this.#values.slice();
  }
}
