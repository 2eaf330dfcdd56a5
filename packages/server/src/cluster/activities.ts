import type { ConversationActivity } from "@banyan/desk/serving";
import type { SharedDatabase } from "@banyan/store/postgres";

export interface ActivityPublisherOptions {
  readonly shared: Pick<SharedDatabase, "tell">;
  activityOf(conversation: string): ConversationActivity | undefined;
  defect(error: unknown): void;
}

/**
 * Reports the activity of this node's open conversations to the database, so that all nodes list the same activity.
 * Reports are sent one after another, each with the current value. Two statements on two connections could arrive in
 * either order and leave an old value.
 */
export class ActivityPublisher {
  readonly #options: ActivityPublisherOptions;
  readonly #told = new Map<string, ConversationActivity>();
  readonly #changed = new Set<string>();
  #isTelling = false;

  constructor(options: ActivityPublisherOptions) {
    this.#options = options;
  }

  /** Marks a conversation whose activity may have changed, or that was closed. */
  changed(conversation: string): void {
    this.#changed.add(conversation);
    if (!this.#isTelling) this.#tell().catch(this.#options.defect);
  }

  async #tell(): Promise<void> {
    this.#isTelling = true;
    try {
      for (const conversation of this.#changed) {
        this.#changed.delete(conversation);
        await this.#tellOf(conversation).catch(this.#options.defect);
      }
    } finally {
      this.#isTelling = false;
    }
  }

  async #tellOf(conversation: string): Promise<void> {
    const now = this.#options.activityOf(conversation);
    const { running, waiting } = this.#told.get(conversation) ?? { running: 0, waiting: 0 };
    // The next node that opens the conversation reports from zero.
    if (!now) this.#told.delete(conversation);
    else if (now.running !== running || now.waiting !== waiting) {
      await this.#options.shared.tell(conversation, now);
      this.#told.set(conversation, now);
    }
  }
}
