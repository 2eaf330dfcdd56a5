import type { Store } from "@banyan/core";
import { visibleLine } from "@banyan/core/shown";
import type { ConversationSummary } from "@banyan/core/stores";

/** No conversation, or more than one, is meant by a name. `message` says what to do. */
export class ConversationError extends Error {
  override readonly name = "ConversationError";
  readonly code: "not-found" | "ambiguous";
  /** Those that may be meant. */
  readonly matches: readonly ConversationSummary[];

  constructor(code: ConversationError["code"], message: string, matches: readonly ConversationSummary[] = []) {
    super(message);
    this.code = code;
    this.matches = matches;
  }
}

/** The label of a conversation that was begun where nobody could be asked: by `banyan -p`, say. */
export const UNATTENDED = "unattended";

/** Whether a conversation was begun where nobody could be asked. */
export function wasUnattended({ labels }: Pick<ConversationSummary, "labels">): boolean {
  return labels[UNATTENDED] !== undefined;
}

/** Conversations that are looked through first for one that a person held. */
const RECENT = 20;

/**
 * The conversation of a directory that was written to last, those first that a person began; `passed` is a later one
 * that was begun where nobody could be asked.
 */
export async function lastHeld(
  store: Store,
  cwd: string,
): Promise<{ readonly last?: ConversationSummary | undefined; readonly passed?: ConversationSummary | undefined }> {
  const labels = { cwd };
  const recent = await store.list({ labels, limit: RECENT });
  const [latest] = recent;
  const isHeld = (summary: ConversationSummary) => !wasUnattended(summary);
  const held =
    recent.find(isHeld) ?? (recent.length < RECENT ? undefined : (await store.list({ labels })).find(isHeld));
  return held && held !== latest ? { last: held, passed: latest } : { last: latest };
}

/**
 * The conversation that a person means: by its id, the beginning of its id (from four characters on) or its title,
 * whole or in part. Rejects with `ConversationError`.
 */
export async function findConversation(store: Store, named: string): Promise<ConversationSummary> {
  const wanted = named.trim().toLowerCase();
  const summaries = named === "" ? [] : await store.list();
  // Any text may be an id: so it is looked for as it was written, capitals included, and only then in other ways.
  for (const whole of [named, named.trim(), wanted]) {
    const exact = summaries.find(({ id }) => id === whole);
    if (exact) return exact;
  }
  const ways =
    wanted === ""
      ? []
      : [
          ({ id }: ConversationSummary) => id.toLowerCase() === wanted,
          ({ id }: ConversationSummary) => wanted.length >= 4 && id.toLowerCase().startsWith(wanted),
          ({ title }: ConversationSummary) => title.toLowerCase() === wanted,
          ({ title }: ConversationSummary) => title.toLowerCase().includes(wanted),
        ];
  for (const way of ways) {
    const found = summaries.filter(way);
    if (found.length > 1) throw ambiguous(named, found);
    if (found[0]) return found[0];
  }
  throw new ConversationError(
    "not-found",
    `There is no conversation '${named}'. Its id, the beginning of its id or its title is needed.`,
  );
}

function ambiguous(named: string, found: readonly ConversationSummary[]): ConversationError {
  const some = found.slice(0, 5).map(({ id, title }) => `${visibleLine(id)} (${title.slice(0, 40)})`);
  const more = found.length > some.length ? ` and ${found.length - some.length} more` : "";
  return new ConversationError(
    "ambiguous",
    `'${named}' may be any of these conversations: ${some.join(", ")}${more}. Name one by its id.`,
    found,
  );
}
