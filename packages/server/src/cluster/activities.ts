import type { Shared } from "@banyan/store/postgres";
import type { Activity } from "../desk/elsewhere.ts";

/** What a node has that tells others what goes on in it. */
export interface ActivitiesOptions {
  readonly shared: Pick<Shared, "tell">;
  /** What goes on in a conversation; nothing when it is not open here. */
  activityOf(conversation: string): Activity | undefined;
  defect(error: unknown): void;
}

/**
 * Tells the other nodes what goes on in the conversations that are open here, so that a list is the same on all. One after the other,
 * and always what is so now: two statements on two connections could arrive in either order, and the first would be what others know.
 */
export class Activities {
  readonly #options: ActivitiesOptions;
  /** What the others know. */
  readonly #told = new Map<string, Activity>();
  readonly #changed = new Set<string>();
  #isTelling = false;

  constructor(options: ActivitiesOptions) {
    this.#options = options;
  }

  /** What goes on in a conversation may have changed, or it was closed. */
  changed(conversation: string): void {
    this.#changed.add(conversation);
    if (!this.#isTelling) this.#tell().catch(this.#options.defect);
  }

  async #tell(): Promise<void> {
    this.#isTelling = true;
    try {
      for (const conversation of this.#changed) {
        this.#changed.delete(conversation);
        // One that cannot be told keeps back no other; it is told with its next change.
        await this.#tellOf(conversation).catch(this.#options.defect);
      }
    } finally {
      this.#isTelling = false;
    }
  }

  async #tellOf(conversation: string): Promise<void> {
    const now = this.#options.activityOf(conversation);
    const { running, waiting } = this.#told.get(conversation) ?? { running: 0, waiting: 0 };
    // Who opens it next begins with nothing.
    if (!now) this.#told.delete(conversation);
    else if (now.running !== running || now.waiting !== waiting) {
      await this.#options.shared.tell(conversation, now);
      this.#told.set(conversation, now);
    }
  }
}
