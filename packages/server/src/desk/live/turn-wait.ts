import type { Session } from "@banyan/core";

/** Milliseconds after which it is told again, for who came meanwhile. */
const AGAIN = 5_000;

/** A turn that waits for what is about to be there: whoever watches is told what for, and when it waits no longer. */
export class TurnWait implements Disposable {
  readonly #session: Session;
  readonly #command: string;
  #telling: NodeJS.Timeout | undefined;
  /** What is still not there when it waits no longer, in sentences. */
  missing: readonly string[] = [];

  /** `command` is the id of the command that asked for the turn. */
  constructor(session: Session, command: string) {
    this.#session = session;
    this.#command = command;
  }

  /** It waits, as the sentence says. */
  tell(sentence: string): void {
    const tell = () => this.#notify(true, sentence);
    clearInterval(this.#telling);
    this.#telling = setInterval(tell, AGAIN);
    tell();
  }

  /** It waits no longer. Where nobody was told that it does, and nothing is missing, nobody is told. */
  [Symbol.dispose](): void {
    if (this.#telling === undefined && this.missing.length === 0) return;
    clearInterval(this.#telling);
    this.#notify(false, this.missing.join(" "));
  }

  #notify(waits: boolean, reason: string): void {
    this.#session.notify({ type: "turn.waiting", command: this.#command, waits, reason });
  }
}
