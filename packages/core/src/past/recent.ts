/**
 * The values that were set last: at least so many, at most twice as many. To set one and to look one up costs the same,
 * however many there are.
 */
export class Recent<Value> {
  readonly #least: number;
  /** Those since the last change of the two, and those between it and the one before. */
  #newer = new Map<string, Value>();
  #older: ReadonlyMap<string, Value> = new Map();

  constructor(least: number) {
    this.#least = least;
  }

  get(key: string): Value | undefined {
    return this.#newer.get(key) ?? this.#older.get(key);
  }

  set(key: string, value: Value): void {
    if (this.#newer.size >= this.#least) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(key, value);
  }

  takeAll(other: Recent<Value>): void {
    this.#newer = new Map(other.#newer);
    this.#older = other.#older;
  }

  clear(): void {
    this.#newer = new Map();
    this.#older = new Map();
  }
}
