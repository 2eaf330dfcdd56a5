import type { ListedConversation } from "@banyan/protocol";
import { locale, t } from "../../parts/phrases/phrases.ts";

/** A row in the list of conversations: a heading, a conversation, or the button that shows archived conversations. */
export type ListRow =
  | { readonly type: "head"; readonly name: string }
  | { readonly type: "entry"; readonly conversation: ListedConversation }
  /** Opens and closes the archived conversations, which follow this row while open. */
  | { readonly type: "archive"; readonly count: number };

const NONE: ReadonlySet<string> = new Set();

const DAY = 24 * 60 * 60 * 1_000;

/**
 * Groups conversations by the day of their last change (W68). Pinned conversations come first. Archived conversations
 * come last, below a row that opens them. `conversations` is sorted, the newest first. Days are local days, and `now`
 * is a local time.
 */
export function listRows(
  conversations: readonly ListedConversation[],
  {
    pinned,
    archived = NONE,
    isArchiveOpen = false,
    now,
  }: {
    readonly pinned: ReadonlySet<string>;
    readonly archived?: ReadonlySet<string>;
    readonly isArchiveOpen?: boolean;
    readonly now: number;
  },
): readonly ListRow[] {
  const today = new Date(now).setHours(0, 0, 0, 0);
  const rows: ListRow[] = [];
  let head = "";
  const add = (name: string, conversation: ListedConversation) => {
    if (name !== head) rows.push({ type: "head", name });
    head = name;
    rows.push({ type: "entry", conversation });
  };
  const current = archived.size === 0 ? conversations : conversations.filter(({ id }) => !archived.has(id));
  for (const each of current) if (pinned.has(each.id)) add(t("Pinned"), each);
  for (const each of current) if (!pinned.has(each.id)) add(dayOf(each.updatedAt, today), each);
  const away = archived.size === 0 ? [] : conversations.filter(({ id }) => archived.has(id));
  if (away.length > 0) rows.push({ type: "archive", count: away.length });
  if (isArchiveOpen) for (const conversation of away) rows.push({ type: "entry", conversation });
  return rows;
}

function dayOf(at: number, today: number): string {
  if (at >= today) return t("Today");
  if (at >= today - DAY) return t("Yesterday");
  if (at >= today - 7 * DAY) return t("Previous 7 days");
  if (at >= today - 30 * DAY) return t("Previous 30 days");
  return MONTHS.format(at);
}

/** Created once: a formatter costs more than ten thousand formatted dates. */
const MONTHS = new Intl.DateTimeFormat(locale, { month: "long", year: "numeric" });
