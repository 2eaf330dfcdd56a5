import type { Event } from "../conversation/event.ts";
import type { Log } from "../ports/store.ts";

/** Appends to a log, one after the other: its sequence numbers go on from the last one that it holds. */
export class Appends {
  readonly #log: Log;
  #last: Promise<void> | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** As `Log.append`. */
  add(events: readonly Event[], options: { readonly durable: true } | undefined): void | Promise<void> {
    const before = this.#last;
    const appended = before ? before.then(() => this.#log.append(events, options)) : this.#log.append(events, options);
    if (!(appended instanceof Promise)) return;
    this.#last = appended;
    const done = () => {
      if (this.#last === appended) this.#last = undefined;
    };
    appended.then(done, done);
    return appended;
  }
}
