/**
 * The values that were set last, so many of them. To set one costs next to nothing, however often that is done; to look one up
 * is to look through them, from the last one on.
 */
export class Recent<Value> {
  readonly #most: number;
  #keys: string[] = [];
  #values: Value[] = [];
  /** Where the next one goes: in the place of the oldest, once there are so many. */
  #next = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): Value | undefined {
    // What was set since the places were last begun anew is newer than what stands behind it; -1 looks through all of them.
    const newest = this.#keys.lastIndexOf(key, this.#next - 1);
    return this.#values[newest >= 0 ? newest : this.#keys.lastIndexOf(key)];
  }

  set(key: string, value: Value): void {
    this.#keys[this.#next] = key;
    this.#values[this.#next] = value;
    this.#next = (this.#next + 1) % this.#most;
  }

  takeAll(other: Recent<Value>): void {
    this.#keys = [...other.#keys];
    this.#values = [...other.#values];
    this.#next = other.#next;
  }

  clear(): void {
    this.#keys = [];
    this.#values = [];
    this.#next = 0;
  }
}
