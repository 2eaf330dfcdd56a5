/** The values that were set last, at least so many, in two generations: when the young one is full, the old one goes. */
export class Recent<Value> {
  readonly #least: number;
  #young = new Map<string, Value>();
  #old: ReadonlyMap<string, Value> = new Map();

  constructor(least: number) {
    this.#least = least;
  }

  get(key: string): Value | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  set(key: string, value: Value): void {
    this.#young.set(key, value);
    if (this.#young.size < this.#least) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  takeAll(other: Recent<Value>): void {
    this.#young = new Map(other.#young);
    this.#old = other.#old;
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
  }
}
