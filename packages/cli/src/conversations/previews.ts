import { leaves } from "@banyan/core";
import type { ConversationDirectory, StoredConversation } from "@banyan/host";
import { lastExchange } from "../chat/exchange.ts";
import { counted } from "../show/amounts.ts";
import { oneLine } from "../show/plain-text.ts";
import type { Style } from "../show/style.ts";
import { formatTime } from "../show/time.ts";

/** Where conversations stand, each read when somebody looks at it: one at a time, the one looked at last first. */
export class Previews {
  readonly #directory: ConversationDirectory;
  readonly #agent: string;
  readonly #changed: () => void;
  readonly #known = new Map<string, StoredConversation["state"] | Error>();
  #wanted: string | undefined;
  #isReading = false;

  /** `changed` is called when one that was looked at has been read. */
  constructor(directory: ConversationDirectory, agent: string, changed: () => void) {
    this.#directory = directory;
    this.#agent = agent;
    this.#changed = changed;
  }

  /** Lines about a conversation, as far as it has been read. */
  of(id: string, width: number, style: Style): string[] {
    const state = this.#known.get(id);
    if (state instanceof Error) return [style.warning(`Not readable: ${oneLine(state.message)}`)];
    if (state) {
      const branches = counted(leaves(state).length, "branch", "branches");
      const facts = [`begun ${formatTime(state.createdAt)}`, branches, ...(state.model ? [oneLine(state.model)] : [])];
      return [...lastExchange(state, state.leaf, this.#agent, { columns: width, style }), style.dim(facts.join(" · "))];
    }
    this.#wanted = id;
    void this.#read();
    return [style.dim("…")];
  }

  async #read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    for (let id = this.#wanted; id !== undefined; id = this.#wanted) {
      this.#wanted = undefined;
      // What cannot be read is told in the place of the preview.
      const read = await this.#directory.read(id).catch((error: unknown) => error);
      this.#known.set(id, read instanceof Error ? read : (read as StoredConversation).state);
      this.#changed();
    }
    this.#isReading = false;
  }
}
