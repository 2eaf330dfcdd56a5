/**
 * A map that keeps only the newest values: at least `least`, at most twice as many. Each write and read takes constant
 * time.
 */
export class Recent<Value> {
  readonly #least: number;
  /** Values set since the last switch, and values set between the last two switches. */
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
