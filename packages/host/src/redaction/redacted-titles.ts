import type { Event, Store } from "@banyan/core";

/** Maximum titles in the cache: users list the same conversations again and again. */
const REMEMBERED = 20_000;

/** Wraps a store to remove secrets from titles in lists and searches (F106). */
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
    ...(store.watch && { watch: (changed) => store.watch?.(changed) ?? (() => {}) }),
    remove: (id) => store.remove(id),
    close: () => store.close(),
  };
}

/** Returns an event without secrets in its title. */
export function withRedactedTitle(event: Event, redact: (text: string) => string): Event {
  return event.type === "title.changed" ? { ...event, title: redact(event.title) } : event;
}
