import { afterCursor, mergeAll, mergeDeltas } from "../conversation/deltas.ts";
import type { Event, EventBody } from "../conversation/event.ts";
import type { Cursor, Delta, DeltaBody } from "../conversation/feed-item.ts";
import type { CheckpointPart } from "../conversation/message.ts";
import type { ConversationState } from "../conversation/state.ts";

/** Streaming text is in the log at the latest this many milliseconds after it came. */
const CHECKPOINT_EVERY = 250;

/** UTF-16 units of text that stay here after the log has them: a reader that was away for a moment gets the same deltas. */
const TEXT_KEPT = 256 * 1024;

/** What a fragment counts beside its text, in such units: however short they are, their number is bounded too. */
const FRAGMENT = 128;

/** Characters of a running call's output that a reader who joins is shown. */
const OUTPUT_SHOWN = 64 * 1024;

/** Fragments of text and reasoning. */
type TextDelta = Extract<Delta, { readonly type: "text.delta" | "reasoning.delta" }>;
type TextBody = Extract<DeltaBody, Pick<TextDelta, "type">>;

/**
 * What streams and no event in the log stands for yet, and the last text before: for readers that join, and for the next
 * checkpoint.
 *
 * A window is opened while "Hello" streams. Its snapshot has "Hel", which no event says yet, and its cursor says so: 3 units
 * behind the last event. The next delta, "lo", ends at 5, so it fits just behind. A window that was away comes back with that
 * cursor when "lo world" has come in one piece since: it gets from here what is behind its cursor, cut in the middle of a delta
 * if need be. No letter is missing, and none is there twice. What a checkpoint took stays here for a while, for such readers.
 */
export class Streaming {
  /** In the order in which it came. Of calls neighbours are merged; of text a checkpoint takes them soon. */
  #fresh: Delta[] = [];
  /** The last text that the log has, as it was told. */
  #kept: Delta[] = [];
  /** Where it begins in the array: what stands before has left, and the array is cut when that is half of it. */
  #keptFrom = 0;
  #keptSize = 0;
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

  /** What a reader at `cursor` has not seen and the log does not say, in order. */
  after(cursor: Cursor): Delta[] {
    return unseen(this.#fresh, cursor);
  }

  /** What a reader at `cursor` has not seen of the last text that the log has, in order. */
  keptAfter(cursor: Cursor): Delta[] {
    return unseen(this.#kept.slice(this.#keptFrom), cursor).sort(
      (one, other) => one.seq - other.seq || one.offset - other.offset,
    );
  }

  /** How far a reader at `cursor` has heard the parts whose text is still here. */
  heardAt(cursor: Cursor): Heard {
    const heard = new Heard();
    for (const delta of [...this.#kept.slice(this.#keptFrom), ...this.#fresh]) {
      if (!isText(delta) || delta.seq > cursor.seq) continue;
      const ahead = delta.seq === cursor.seq ? Math.max(0, delta.offset - cursor.offset) : 0;
      if (ahead < delta.text.length) heard.hear(delta, delta.text.length - ahead);
    }
    return heard;
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
    const covered: Delta[] = [];
    this.#fresh = this.#fresh.filter((delta) => {
      if (fits(delta)) return true;
      if (isText(delta)) covered.push(delta);
      return false;
    });
    for (const delta of mergeAll(covered)) {
      this.#kept.push(delta);
      this.#keptSize += delta.text.length + FRAGMENT;
    }
    while (this.#keptSize > TEXT_KEPT) this.#keptSize -= (this.#kept[this.#keptFrom++]?.text.length ?? 0) + FRAGMENT;
    if (this.#keptFrom * 2 < this.#kept.length) return;
    this.#kept = this.#kept.slice(this.#keptFrom);
    this.#keptFrom = 0;
  }
}

/** How far somebody has heard the parts of messages, in UTF-16 units. */
export class Heard {
  readonly #ends = new Map<string, number>();

  /** Where the heard text of a part ends; nothing when that is not known. */
  of(message: string, part: number): number | undefined {
    return this.#ends.get(`${message} ${part}`);
  }

  /** A fragment was heard, or the beginning of it. */
  hear({ message, part, begins = 0, text }: TextDelta, length = text.length): void {
    this.#ends.set(`${message} ${part}`, begins + length);
  }
}

/** Whether a delta is one of text or reasoning. */
export function isText<Said extends DeltaBody>(delta: Said): delta is Extract<Said, TextBody> {
  return delta.type === "text.delta" || delta.type === "reasoning.delta";
}

/** Where in its part a fragment of text begins that is about to be shown. */
export function beginOf({ message, part: index }: TextBody, state: ConversationState): number {
  const part = state.messages.get(message)?.parts[index];
  return part && "text" in part ? part.text.length : 0;
}

function unseen(deltas: readonly Delta[], cursor: Cursor): Delta[] {
  const unseen: Delta[] = [];
  for (const delta of deltas) {
    const rest = afterCursor(delta, cursor);
    if (rest) push(unseen, rest);
  }
  return unseen;
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
