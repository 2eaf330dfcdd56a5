import { type Store, StoreError } from "@banyan/core";
import type { Event } from "@banyan/core/conversation";
import type { Log, LogView } from "@banyan/core/stores";

/** The label of a conversation with the user who began the conversation. */
const USER = "user";

/**
 * Returns the part of a store that belongs to one user: the conversations that were begun or imported through it. Other
 * conversations do not exist in it: `not-found`, even with the option `create`. Closing it leaves the store open,
 * because other users need the store.
 */
export function userStore(store: Store, user: string): Store {
  const own = (labels: Readonly<Record<string, string>> | undefined) => ({ ...labels, [USER]: user });
  const absent = (id: string) =>
    new StoreError(
      "not-found",
      `There is no conversation ${JSON.stringify(id)} of this user. If the id is new, choose another id.`,
    );
  const holderOf = async (id: string): Promise<"user" | "other" | "nobody"> => {
    const log = await viewed(store, id);
    if (!log) return "nobody";
    try {
      return log.seq === 0 ? "nobody" : (await beginningOf(log))?.labels[USER] === user ? "user" : "other";
    } finally {
      await log.close();
    }
  };
  const check = async (id: string) => {
    if ((await holderOf(id)) !== "user") throw absent(id);
  };
  return {
    async open(id, options) {
      const holder = await holderOf(id);
      if (holder === "other" || (holder === "nobody" && !options?.create)) throw absent(id);
      const log = await store.open(id, options);
      // Another user may have begun the conversation after the first look.
      if (holder === "user" || log.seq === 0 || (await holderOf(id)) === "user") return withLabel(log, own);
      await log.close();
      throw absent(id);
    },
    async view(id) {
      await check(id);
      return store.view(id);
    },
    list: (query) => store.list({ ...query, labels: own(query?.labels) }),
    search: (query, options) => store.search(query, { ...options, labels: own(options?.labels) }),
    async remove(id) {
      await check(id);
      await store.remove(id);
    },
    close: async () => {},
  };
}

async function viewed(store: Store, id: string): Promise<LogView | undefined> {
  try {
    return await store.view(id);
  } catch (error) {
    if (error instanceof StoreError && error.code === "not-found") return undefined;
    throw error;
  }
}

/** The event that begins a log; `undefined` if the event cannot be read. */
async function beginningOf(
  log: LogView,
): Promise<Extract<Event, { readonly type: "conversation.created" }> | undefined> {
  for await (const batch of log.read()) return batch.find((event) => event.type === "conversation.created");
  return undefined;
}

/** Labels conversations in their log: an imported conversation must not bring the label of another user. */
function withLabel(log: Log, own: (labels: Readonly<Record<string, string>>) => Readonly<Record<string, string>>): Log {
  return {
    get seq() {
      return log.seq;
    },
    get damage() {
      return log.damage ?? [];
    },
    epoch: log.epoch,
    ...(log.rights && { rights: log.rights }),
    ...(log.now && { now: () => log.now?.() ?? Date.now() }),
    append: (events, options) =>
      log.append(
        events.map((event) =>
          event.type === "conversation.created" ? { ...event, labels: own(event.labels) } : event,
        ),
        options,
      ),
    read: (after) => log.read(after),
    close: () => log.close(),
  };
}
