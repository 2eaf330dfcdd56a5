/** Notifies listeners that another node wrote to a conversation or left a command for it. */
export class Bells {
  readonly #bells = new Map<string, Set<() => void>>();

  /** Calls `hearing` at each notification until the returned function is called. */
  listen(conversation: string, hearing: () => void): () => void {
    const bells = this.#bells.get(conversation) ?? new Set();
    // A new function each time: the same listener may be registered twice.
    const bell = () => hearing();
    this.#bells.set(conversation, bells.add(bell));
    return () => {
      bells.delete(bell);
      if (bells.size === 0 && this.#bells.get(conversation) === bells) this.#bells.delete(conversation);
    };
  }

  /** Resolves at the next notification, or after `wait` milliseconds. */
  rung(conversation: string, wait: number): Promise<void> {
    const rung = Promise.withResolvers<void>();
    const unlisten = this.listen(conversation, rung.resolve);
    const timer = setTimeout(rung.resolve, wait);
    return rung.promise.finally(() => {
      clearTimeout(timer);
      unlisten();
    });
  }

  /** Notifies the listeners of these conversations; `undefined` notifies all, because notifications may have been lost. */
  ring(conversations: readonly string[] | undefined): void {
    const rung = conversations ?? [...this.#bells.keys()];
    for (const conversation of rung) for (const ring of this.#bells.get(conversation) ?? []) ring();
  }
}
