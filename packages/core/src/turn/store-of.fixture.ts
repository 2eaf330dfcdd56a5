import type { Event } from "../conversation/event.ts";
import type { Log, Store } from "../ports/store.ts";

/** A store of one log with slow appends, which fails after `room` appends. */
export function storeOf(events: Event[], room = Number.POSITIVE_INFINITY): Store {
  let appends = 0;
  const log: Log = {
    epoch: (events.at(-1)?.epoch ?? 0) + 1,
    seq: events.length,
    async *read(after = 0) {
      yield structuredClone(events.slice(after));
    },
    async append(more) {
      await new Promise(setImmediate);
      if (++appends > room) throw new Error("the disk is full");
      events.push(...structuredClone(more));
    },
    close: async () => {},
  };
  const none = () => Promise.reject(new Error("not in this test"));
  return {
    open: async () => log,
    view: async () => log,
    list: none,
    search: none,
    remove: none,
    close: async () => {},
  };
}
