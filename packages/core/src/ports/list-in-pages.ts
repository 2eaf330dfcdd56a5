import type { ConversationSummary, ListQuery } from "./store.ts";

/**
 * Yields all conversations of a list page by page, each conversation once, even if the order changes between two pages.
 * Conversations that move to the front meanwhile come last. `page` returns the next `size` conversations. Rejects with
 * the error of `page`.
 * @example
 * const page = (after?: ConversationSummary) => store.list({ after, limit: 100 });
 * for await (const conversations of listInPages(page, 100)) console.log(conversations.length);
 */
export async function* listInPages<Item extends NonNullable<ListQuery["after"]> = ConversationSummary>(
  page: (after?: Item) => Promise<readonly Item[]>,
  size: number,
): AsyncGenerator<readonly Item[]> {
  const seen = new Set<string>();
  for (let first: Item | undefined, round = 1; ; round++) {
    const before = first;
    let pages = 0;
    let isAnyNew = false;
    for (let after: Item | undefined; ; pages++) {
      const items = await page(after);
      if (pages === 0) first = items[0];
      const added = items.filter(({ id }) => !seen.has(id));
      for (const { id } of added) seen.add(id);
      isAnyNew ||= added.length > 0;
      if (added.length > 0 || (round === 1 && pages === 0)) yield added;
      const last = items.at(-1);
      // A source without pages returns the same conversations again.
      if (!last || items.length !== size || last.id === after?.id) break;
      // Conversations that moved since the previous round are before its first conversation.
      if (before && last.updatedAt < before.updatedAt) break;
      after = last;
    }
    if (!isAnyNew || (round === 1 && pages === 0)) return;
  }
}
