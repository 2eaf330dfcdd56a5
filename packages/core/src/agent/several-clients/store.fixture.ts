import type { Event } from "../../conversation/event.ts";
import type { Log, Store } from "../../ports/store.ts";

/** A store of one log in memory. With `slow`, an append takes until the next turn of the event loop. */
export function storeOf(events: Event[], slow: boolean): Store {
  let epoch = 0;
  return {
    open: async (): Promise<Log> => ({
      epoch: ++epoch,
      get seq() {
        return events.length;
      },
      read: async function* (after = 0) {
        yield events.slice(after);
      },
      append: (added) => {
        if (!slow) return void events.push(...added);
        return new Promise((resolve) => setImmediate(resolve)).then(() => void events.push(...added));
      },
      close: async () => {},
    }),
    view: () => Promise.reject(new Error("Nobody looks at this one.")),
    list: async () => [],
    search: async () => [],
    remove: async () => {},
    close: async () => {},
  };
}
