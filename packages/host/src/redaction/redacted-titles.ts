import type { Event, Store } from "@banyan/core";

/** Titles that are remembered without their secrets: a server lists all conversations at each change. */
const REMEMBERED = 20_000;

/**
 * Returns the store with lists and searches whose titles have no secrets (F106): a title may come from a log of an earlier
 * version, an import or a message that no host redacted.
 */
export function withRedactedTitles(store: Store, redact: (text: string) => string): Store {
  const known = new Map<string, string>();
  const clean = <Titled extends { readonly title: string }>(each: Titled): Titled => {
    const title = known.get(each.title) ?? redact(each.title);
    if (known.size >= REMEMBERED) known.clear();
    known.set(each.title, title);
    return { ...each, title };
  };
  return {
    open: (...of) => store.open(...of),
    view: (id) => store.view(id),
    list: async (query) => (await store.list(query)).map(clean),
    search: async (...of) => (await store.search(...of)).map(clean),
    remove: (id) => store.remove(id),
    close: () => store.close(),
  };
}

/** An event without the secrets of its title. */
export function withRedactedTitle(event: Event, redact: (text: string) => string): Event {
  return event.type === "title.changed" ? { ...event, title: redact(event.title) } : event;
}
