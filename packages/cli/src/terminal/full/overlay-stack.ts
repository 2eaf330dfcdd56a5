import { QUIET } from "../terminal.ts";
import type { KeyBindings } from "./keys/key-bindings.ts";
import type { Over, Overlay } from "./views/overlay.ts";

/** How an overlay is opened. */
export interface OverlayOptions {
  readonly signal?: AbortSignal | undefined;
  /** It asks something that keys decide: what was typed before it appeared must not decide it (S14). */
  readonly isGuarded?: boolean;
  /** It stands over what is asked already, not behind it. */
  readonly isOver?: boolean;
}

interface Entry {
  readonly overlay: Overlay<unknown>;
  readonly isGuarded: boolean;
  /** When keys are for it, in milliseconds of `performance.now()`. */
  armedAt: number;
  readonly end: (over: Over<unknown>) => void;
}

/** What has the keys, one over the other; the last one opened is on top, but a list or the tree stays over a question. */
export class OverlayStack {
  #entries: Entry[] = [];
  readonly #changed: () => void;
  #armed: NodeJS.Timeout | undefined;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** What has the keys now; nothing when the prompt has them. */
  get top(): Overlay<unknown> | undefined {
    return this.#entry?.overlay;
  }

  /** What takes the whole screen; a question may stand below it. */
  get page(): Overlay<unknown> | undefined {
    return this.#page?.overlay;
  }

  /** Questions that stand behind what is on top. */
  get behind(): number {
    return Math.max(0, this.#entries.filter(({ overlay }) => !overlay.isFull).length - (this.top?.isFull ? 0 : 1));
  }

  /** Whether keys are for what is on top: none has come for a while since it appeared. */
  get isArmed(): boolean {
    const entry = this.#entry;
    return entry !== undefined && performance.now() >= entry.armedAt;
  }

  /** Opens something; returns how it ended, nothing chosen when it was taken away. */
  async open<T>(
    overlay: Overlay<T>,
    { signal, isGuarded = false, isOver = false }: OverlayOptions = {},
  ): Promise<Over<T>> {
    if (signal?.aborted) return {};
    const { promise, resolve } = Promise.withResolvers<Over<T>>();
    const end = (over: Over<unknown>) => resolve(over as Over<T>);
    const entry: Entry = { overlay: overlay as Overlay<unknown>, isGuarded, armedAt: 0, end };
    const abort = () => this.#close(entry, {});
    signal?.addEventListener("abort", abort, { once: true });
    const before = this.#entry;
    if (isOver) this.#entries.unshift(entry);
    else this.#entries.push(entry);
    if (this.#entry !== before) this.#appeared();
    this.#changed();
    try {
      return await promise;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Hears of a key; returns whether it is for the prompt, because what is on top has just appeared. */
  delays(): boolean {
    if (!this.#entry || this.isArmed) return false;
    this.#appeared();
    return true;
  }

  /** Gives what is on top a key; one that is not for that, or not yet, goes to the page above it. */
  key(key: string, keys: KeyBindings): void {
    const isSpared = this.#page && this.#page !== this.#entry && this.top?.spares?.(key, keys) === true;
    const entry = this.isArmed && !isSpared ? this.#entry : this.#page;
    const over = entry?.overlay.key(key, keys);
    if (entry && over) this.#close(entry, over);
  }

  /** Takes everything away. */
  closeAll(): void {
    for (const entry of [...this.#entries]) this.#close(entry, {});
  }

  get #entry(): Entry | undefined {
    const page = this.#page;
    const question = this.#entries.find(({ overlay }) => !overlay.isFull);
    return page && !(page.overlay.takesQuestions && question) ? page : question;
  }

  get #page(): Entry | undefined {
    return this.#entries.findLast(({ overlay }) => overlay.isFull);
  }

  /** What is on top has just come into sight: keys are for it after a pause, and that can be seen then. */
  #appeared(): void {
    const entry = this.#entry;
    clearTimeout(this.#armed);
    if (!entry?.isGuarded) return;
    entry.armedAt = performance.now() + QUIET;
    this.#armed = setTimeout(this.#changed, QUIET);
  }

  #close(entry: Entry, over: Over<unknown>): void {
    if (!this.#entries.includes(entry)) return;
    const wasTop = entry === this.#entry;
    this.#entries = this.#entries.filter((other) => other !== entry);
    if (wasTop) this.#appeared();
    entry.end(over);
    this.#changed();
  }
}
