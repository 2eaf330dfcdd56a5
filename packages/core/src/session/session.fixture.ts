import type { Event } from "../conversation/event.ts";
import { defineTool } from "../ports/define-tool.ts";
import { type Log, type Store, StoreError } from "../ports/store.ts";

/** A store in memory with slow appends, which can be made to fail. */
export class SlowStore implements Store {
  readonly events: Event[] = [];
  epoch = 0;
  failAt = Number.POSITIVE_INFINITY;
  opened: string | undefined;

  async open(conversation: string): Promise<Log> {
    this.opened = conversation;
    const epoch = ++this.epoch;
    const { events } = this;
    return {
      epoch,
      get seq() {
        return events.length;
      },
      read: async function* (after = 0) {
        yield events.slice(after);
      },
      append: async (added) => {
        await new Promise((resolve) => setTimeout(resolve, 1));
        if (this.events.length + added.length > this.failAt) throw new StoreError("full", "The disk is full.");
        this.events.push(...added);
      },
      close: async () => {},
    };
  }

  view(): never {
    throw new Error("Nobody looks at this one.");
  }

  async list() {
    return [];
  }

  async search() {
    return [];
  }

  async remove() {}

  async close() {}
}

/** A tool that ends when its call is aborted. */
export const wait = defineTool({
  name: "wait",
  description: "",
  input: { type: "object" },
  effects: "external",
  execute: (_, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve("stopped"))),
});
