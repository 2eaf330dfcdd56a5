import { QUIET } from "../contract/terminal.ts";
import type { KeyBindings } from "./keys/key-bindings.ts";
import type { Overlay, OverlayEnd } from "./overlay/overlay.ts";

export interface OverlayOptions {
  readonly signal?: AbortSignal | undefined;
  /** True if keys decide something in the overlay. Keys that were typed before it appears are then ignored (S14). */
  readonly isGuarded?: boolean;
  /** True to open the overlay above the current question instead of behind it. */
  readonly isOver?: boolean;
}

interface OverlayEntry {
  readonly overlay: Overlay<unknown>;
  readonly isGuarded: boolean;
  /** Time from which keys reach the overlay, in milliseconds of `performance.now()`. */
  armedAt: number;
  readonly end: (over: OverlayEnd<unknown>) => void;
}

/** The open overlays. The newest overlay is on top, but a list or the tree stays above a question. */
export class OverlayStack {
  #entries: OverlayEntry[] = [];
  readonly #changed: () => void;
  #armed: NodeJS.Timeout | undefined;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** The overlay that receives keys; undefined if the prompt receives them. */
  get top(): Overlay<unknown> | undefined {
    return this.#entry?.overlay;
  }

  /** The overlay that takes the whole screen; a question may be below it. */
  get page(): Overlay<unknown> | undefined {
    return this.#page?.overlay;
  }

  get behind(): number {
    return Math.max(0, this.#entries.filter(({ overlay }) => !overlay.isFull).length - (this.top?.isFull ? 0 : 1));
  }

  /** True if keys reach the top overlay: a pause without keys has passed since it appeared. */
  get isArmed(): boolean {
    const entry = this.#entry;
    return entry !== undefined && performance.now() >= entry.armedAt;
  }

  /** Opens an overlay. Resolves with its result, which is empty if it was removed. */
  async open<T>(
    overlay: Overlay<T>,
    { signal, isGuarded = false, isOver = false }: OverlayOptions = {},
  ): Promise<OverlayEnd<T>> {
    if (signal?.aborted) return {};
    const { promise, resolve } = Promise.withResolvers<OverlayEnd<T>>();
    const end = (over: OverlayEnd<unknown>) => resolve(over as OverlayEnd<T>);
    const entry: OverlayEntry = { overlay: overlay as Overlay<unknown>, isGuarded, armedAt: 0, end };
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

  /** Called for each key: begins the pause anew if the top overlay has just appeared. */
  delay(): void {
    if (this.#entry && !this.isArmed) this.#appeared();
  }

  /** Passes a key to the top overlay. The page above a question gets keys that the question does not use yet. */
  key(key: string, keys: KeyBindings): void {
    const isSpared = this.#page && this.#page !== this.#entry && this.top?.spares?.(key, keys) === true;
    const entry = this.isArmed && !isSpared ? this.#entry : this.#page;
    const over = entry?.overlay.key(key, keys);
    if (entry && over) this.#close(entry, over);
  }

  closeAll(): void {
    for (const entry of [...this.#entries]) this.#close(entry, {});
  }

  get #entry(): OverlayEntry | undefined {
    const page = this.#page;
    const question = this.#entries.find(({ overlay }) => !overlay.isFull);
    return page && !(page.overlay.takesQuestions && question) ? page : question;
  }

  get #page(): OverlayEntry | undefined {
    return this.#entries.findLast(({ overlay }) => overlay.isFull);
  }

  /** Delays keys for a guarded overlay that has just come to the top, and redraws when keys count. */
  #appeared(): void {
    const entry = this.#entry;
    clearTimeout(this.#armed);
    if (!entry?.isGuarded) return;
    entry.armedAt = performance.now() + QUIET;
    this.#armed = setTimeout(this.#changed, QUIET);
  }

  #close(entry: OverlayEntry, over: OverlayEnd<unknown>): void {
    if (!this.#entries.includes(entry)) return;
    const wasTop = entry === this.#entry;
    this.#entries = this.#entries.filter((other) => other !== entry);
    if (wasTop) this.#appeared();
    entry.end(over);
    this.#changed();
  }
}
