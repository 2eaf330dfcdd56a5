/** Who hears when a conversation is rung for: another node has written to it, or asks something of it. */
export class Bells {
  readonly #bells = new Map<string, Set<() => void>>();

  /** Hears each ring for a conversation, until what is returned is called. */
  listen(conversation: string, hearing: () => void): () => void {
    const bells = this.#bells.get(conversation) ?? new Set();
    // Each time another one: the same may listen twice.
    const bell = () => hearing();
    this.#bells.set(conversation, bells.add(bell));
    return () => {
      bells.delete(bell);
      if (bells.size === 0 && this.#bells.get(conversation) === bells) this.#bells.delete(conversation);
    };
  }

  /** Resolves when a conversation is rung for, or after so many milliseconds. */
  rung(conversation: string, wait: number): Promise<void> {
    const rung = Promise.withResolvers<void>();
    const unlisten = this.listen(conversation, rung.resolve);
    const timer = setTimeout(rung.resolve, wait);
    return rung.promise.finally(() => {
      clearTimeout(timer);
      unlisten();
    });
  }

  /** These were rung for; `undefined`: any may have been, for what was rung meanwhile was not heard. */
  ring(conversations: readonly string[] | undefined): void {
    const rung = conversations ?? [...this.#bells.keys()];
    for (const conversation of rung) for (const ring of this.#bells.get(conversation) ?? []) ring();
  }
}
