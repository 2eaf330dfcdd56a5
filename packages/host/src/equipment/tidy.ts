import { type Store, StoreError } from "@banyan/core";
import { recoveredState } from "@banyan/core/hosts";
import type { ConversationSummary } from "@banyan/core/stores";
import { pruneBackups, pruneSnapshots } from "@banyan/tools/workspace";
import { ConversationDirectory } from "../conversations/conversation-directory.ts";
import { allConversations } from "../conversations/conversations.ts";
import type { Redact } from "../redaction/redactor.ts";

const DAY = 86_400_000;

/** Limits of the previous contents of changed files, and of the snapshots of each workspace. */
const BACKUPS = { days: 30, bytes: 1024 ** 3 };

/** Options of `Cleanup`. */
export interface CleanupOptions {
  readonly store: Store;
  readonly redact: Redact;
  /** The folder with previous contents of changed files. */
  readonly backups: string;
  /** The folder with the content stores of workspaces. */
  readonly snapshots: string;
  /** `retention.days` of the settings. */
  readonly days: number | undefined;
}

/** Removes old conversations, and old backups and snapshots of files. Disposing this object stops a removal. */
export class Cleanup implements AsyncDisposable {
  readonly #options: CleanupOptions;
  readonly #ending = new AbortController();
  #work: Promise<unknown> = Promise.resolve();

  constructor(options: CleanupOptions) {
    this.#options = options;
  }

  /** Returns sentences for users about removed conversations. Backups and snapshots are removed in the background. */
  async tidy(): Promise<string[]> {
    const { store, redact, backups, snapshots, days } = this.#options;
    const { signal } = this.#ending;
    const bounds = { ...BACKUPS, days: Math.min(BACKUPS.days, days ?? BACKUPS.days) };
    const conversations =
      days === undefined ? Promise.resolve([]) : removeOld(new ConversationDirectory({ store, redact }), days, signal);
    const isRemoved = async (conversation: string) =>
      (await store.list({ conversations: [conversation] }).catch(() => [undefined])).length === 0;
    this.#work = Promise.allSettled([
      this.#work,
      pruneBackups(backups, bounds, signal),
      conversations.then(() => pruneSnapshots(snapshots, bounds, isRemoved, signal)),
      conversations,
    ]);
    return conversations;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#work;
  }
}

/** Keeps conversations that are open, starred, labelled, unreadable, or have a question for the user. */
async function removeOld(directory: ConversationDirectory, days: number, signal: AbortSignal): Promise<string[]> {
  const removed: ConversationSummary[] = [];
  const old: ConversationSummary[] = [];
  try {
    for await (const summary of allConversations(directory))
      if (Date.now() - summary.updatedAt > days * DAY) old.push(summary);
  } catch {
    // The next new conversation reports the error.
    return [];
  }
  for (const summary of old) {
    if (signal.aborted) break;
    try {
      if (await mustBeKept(directory, summary.id)) continue;
      await directory.remove(summary.id);
      removed.push(summary);
    } catch (error) {
      // Damaged, or another process opened or removed the conversation.
      if (!(error instanceof StoreError)) throw error;
    }
  }
  return removed.length === 0 ? [] : [removedSentence(removed, days)];
}

async function mustBeKept(directory: ConversationDirectory, id: string): Promise<boolean> {
  const { state, damage, isOpen } = await directory.read(id);
  const isMarked = state.messages.values().some(({ starred, label }) => starred === true || label !== undefined);
  return isOpen || damage.length > 0 || isMarked || recoveredState(state).questions.size > 0;
}

function removedSentence(removed: readonly ConversationSummary[], days: number): string {
  const titles = removed.slice(0, 3).map(({ title }) => `“${title.slice(0, 40)}”`);
  const more = removed.length > titles.length ? [`${removed.length - titles.length} more`] : [];
  const what = new Intl.ListFormat("en").format([...titles, ...more]);
  return `Removed conversations without a new message for ${days} days (retention.days): ${what}.`;
}
