import type { CommandOutcome } from "@banyan/desk/serving";
import { type SharedDatabase, Takeover } from "@banyan/store/postgres";
import type { DrivenNode, Driver, NodeCommand } from "./driver.ts";

const LOOK = 2_000;

/**
 * Drives turns with only the leases in the database: if the lease of a conversation has expired, any node can take the
 * conversation.
 */
export class LeaseDriver implements Driver {
  readonly takesWaiting = true;
  readonly #shared: SharedDatabase;
  readonly #defect: (error: unknown) => void;
  #node: DrivenNode | undefined;
  #timer: NodeJS.Timeout | undefined;
  #unlisten: (() => void) | undefined;

  constructor(shared: SharedDatabase, defect: (error: unknown) => void) {
    this.#shared = shared;
    this.#defect = defect;
  }

  async begin(node: DrivenNode): Promise<void> {
    this.#node = node;
    const take = (conversation: string) => node.takeOver(conversation);
    const takeover = new Takeover({
      shared: this.#shared,
      takesWaiting: this.takesWaiting,
      take,
      defect: this.#defect,
    });
    const sweep = () => {
      if (!node.isDraining) takeover.look().catch(this.#defect);
    };
    this.#timer = setInterval(sweep, LOOK * (0.75 + Math.random() / 2)).unref();
    this.#unlisten = this.#shared.listen((conversations) => conversations && sweep());
  }

  async accept(command: NodeCommand): Promise<CommandOutcome> {
    if (!this.#node) throw new Error("The driver was not started.");
    return this.#node.carryOut(command);
  }

  async leave(command: NodeCommand): Promise<void> {
    await this.#node?.leave(command);
  }

  async end(): Promise<void> {
    clearInterval(this.#timer);
    this.#unlisten?.();
  }
}
