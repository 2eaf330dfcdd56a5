import type { NetworkHostPattern } from "@anthropic-ai/sandbox-runtime";
import type { FromProcess } from "./messages.ts";

/** The connections in a sandbox that wait until the program outside decides about them (S38). */
export class WaitingConnections {
  readonly #waiting = new Map<number, (refusal: string | undefined) => void>();
  readonly #send: (message: FromProcess) => void;
  #last = 0;

  constructor(send: (message: FromProcess) => void) {
    this.#send = send;
  }

  /** Asks about an address outside the domains. The client in the sandbox gets the reason of a refusal. */
  async decide({ host, port }: NetworkHostPattern): Promise<true | { allow: false; reason: string }> {
    if (port === undefined) return { allow: false, reason: "The port is unknown." };
    const id = ++this.#last;
    const refusal = await new Promise<string | undefined>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#send({ type: "connect", id, host, port });
    });
    return refusal === undefined ? true : { allow: false, reason: refusal };
  }

  answer(id: number, refusal: string | undefined): void {
    this.#waiting.get(id)?.(refusal);
    this.#waiting.delete(id);
  }
}
