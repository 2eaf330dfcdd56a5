import type { CheckpointPart, Cursor, Delta, Event, EventBody } from "../conversation/event.ts";
import type { ConversationState } from "../conversation/state.ts";
import { afterCursor, mergeDeltas } from "./feed.ts";

/** Streaming text is in the log at the latest this many milliseconds after it came. */
const CHECKPOINT_EVERY = 250;

/** Characters of a running call's output that a reader who joins is shown. */
const OUTPUT_SHOWN = 64 * 1024;

/** What streams and no event in the log stands for yet: for readers that join, and for the next checkpoint. */
export class Streaming {
  /** In the order in which it came. Of calls neighbours are merged; of text a checkpoint takes them soon. */
  #fresh: Delta[] = [];
  /** Characters of each streaming part that are in the log, by message. */
  readonly #saved = new Map<string, number[]>();
  readonly #save: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** `save` is called when text has waited for a checkpoint long enough. */
  constructor(save: () => void) {
    this.#save = save;
  }

  add(delta: Delta): void {
    if (!isText(delta)) return push(this.#fresh, delta);
    this.#fresh.push(delta);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#save();
    }, CHECKPOINT_EVERY);
  }

  /** No checkpoint is due any more. */
  end(): void {
    clearTimeout(this.#timer);
  }

  /** An event that says all that deltas said makes them superfluous. */
  cover(event: Event): void {
    if (this.#fresh.length === 0 && this.#saved.size === 0) return;
    switch (event.type) {
      case "message.checkpoint":
        this.#keep((delta) => delta.message !== event.message || delta.type.startsWith("call."));
        break;
      case "message.completed":
      case "message.abandoned":
        this.#saved.delete(event.message);
        this.#keep((delta) => delta.message !== event.message || isOfRunningCall(delta));
        break;
      case "call.completed":
      case "call.failed":
      case "call.denied":
      case "call.cancelled":
        this.#keep((delta) => delta.type !== "call.output.delta" || delta.call !== event.call);
        break;
      case "call.followed":
        this.#keep((delta) => delta.type !== "call.draft.delta" || delta.call !== event.call);
        break;
    }
  }

  /** What a reader at `cursor` has not seen. */
  after(cursor: Cursor): Delta[] {
    const unseen: Delta[] = [];
    for (const delta of this.#fresh) {
      const rest = afterCursor(delta, cursor);
      if (rest) push(unseen, rest);
    }
    return unseen;
  }

  /** The text since the checkpoints before, as events. */
  checkpoints(state: ConversationState): EventBody[] {
    const events: EventBody[] = [];
    for (const delta of this.#fresh) {
      if (isText(delta) && !this.#saved.has(delta.message)) this.#saved.set(delta.message, []);
    }
    for (const [id, saved] of this.#saved) {
      const parts: CheckpointPart[] = [];
      state.messages.get(id)?.parts.forEach((part, index) => {
        const offset = saved[index] ?? 0;
        if ((part.type !== "text" && part.type !== "reasoning") || part.text.length <= offset) return;
        saved[index] = part.text.length;
        parts.push({ index, type: part.type, offset, text: part.text.slice(offset) });
      });
      if (parts.length > 0) events.push({ type: "message.checkpoint", message: id, parts });
    }
    return events;
  }

  #keep(fits: (delta: Delta) => boolean): void {
    this.#fresh = this.#fresh.filter(fits);
  }
}

function isText({ type }: Delta): boolean {
  return type === "text.delta" || type === "reasoning.delta";
}

/** Adds a delta, merged with the one before if they are of one text. */
function push(deltas: Delta[], delta: Delta): void {
  const last = deltas.at(-1);
  const merged = last && mergeDeltas(last, delta);
  if (merged) deltas[deltas.length - 1] = tailOf(merged);
  else deltas.push(delta);
}

/** What a call shows goes on after its message is complete. */
function isOfRunningCall({ type }: Delta): boolean {
  return type === "call.output.delta" || type === "call.draft.delta";
}

/** Of a call's output only the end is kept; text is kept whole. */
function tailOf(delta: Delta): Delta {
  if (delta.type !== "call.output.delta" || delta.text.length <= 2 * OUTPUT_SHOWN) return delta;
  return { ...delta, text: delta.text.slice(-OUTPUT_SHOWN) };
}
