import { afterCursor, mergeAll, mergeDeltas } from "../conversation/deltas.ts";
import type { Event, EventBody } from "../conversation/event.ts";
import type { Cursor, Delta, DeltaBody } from "../conversation/feed-item.ts";
import type { CheckpointPart } from "../conversation/message.ts";
import type { ConversationState } from "../conversation/state.ts";

/** Milliseconds after which streaming text is in the log at the latest. */
const CHECKPOINT_EVERY = 250;

/** UTF-16 units of text kept after the log has them: a reader that was briefly away gets the same deltas. */
const TEXT_KEPT = 256 * 1024;

/** Units that each fragment costs in addition to its text. This bounds the number of short fragments. */
const FRAGMENT = 128;

/** Characters of a running call's output that a reader gets on joining. */
const OUTPUT_SHOWN = 64 * 1024;

type TextDelta = Extract<Delta, { readonly type: "text.delta" | "reasoning.delta" }>;
type TextBody = Extract<DeltaBody, Pick<TextDelta, "type">>;

/**
 * Streaming text that no event in the log contains yet, and the last text before it. Example: a client joins while
 * "Hello" streams. Its snapshot has "Hel", and its cursor is 3 units after the last event. The next delta, "lo", ends
 * at 5 and fits exactly. If "lo world" came as one delta instead, the client gets only the text after its cursor.
 */
export class StreamingBuffer {
  /** Deltas in the order of arrival. Neighbouring deltas of calls are merged; checkpoints soon take those of text. */
  #fresh: Delta[] = [];
  /** The original deltas of the last text that is in the log. */
  #kept: Delta[] = [];
  /** Index of the first kept delta. The array is cut when half of it precedes this index. */
  #keptFrom = 0;
  #keptSize = 0;
  /** Characters of each streaming part that are in the log, by message. */
  readonly #saved = new Map<string, number[]>();
  readonly #save: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** `save` is called when text is due for a checkpoint. */
  constructor(save: () => void) {
    this.#save = save;
  }

  add(delta: Delta): void {
    if (!isTextDelta(delta)) return push(this.#fresh, delta);
    this.#fresh.push(delta);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#save();
    }, CHECKPOINT_EVERY);
  }

  /** Cancels the pending checkpoint. */
  end(): void {
    clearTimeout(this.#timer);
  }

  /** Drops deltas whose content is in the event. */
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

  /** Returns, in order, the deltas after `cursor` that the log does not contain. */
  after(cursor: Cursor): Delta[] {
    return unseen(this.#fresh, cursor);
  }

  /** Returns, in order, the deltas after `cursor` of the last text in the log. */
  keptAfter(cursor: Cursor): Delta[] {
    return unseen(this.#kept.slice(this.#keptFrom), cursor).sort(
      (one, other) => one.seq - other.seq || one.offset - other.offset,
    );
  }

  /** Returns how much of the kept parts a reader at `cursor` has received. */
  heardAt(cursor: Cursor): ReaderOffsets {
    const heard = new ReaderOffsets();
    for (const delta of [...this.#kept.slice(this.#keptFrom), ...this.#fresh]) {
      if (!isTextDelta(delta) || delta.seq > cursor.seq) continue;
      const ahead = delta.seq === cursor.seq ? Math.max(0, delta.offset - cursor.offset) : 0;
      if (ahead < delta.text.length) heard.hear(delta, delta.text.length - ahead);
    }
    return heard;
  }

  /** Returns the text since the last checkpoints as events. */
  checkpoints(state: ConversationState): EventBody[] {
    const events: EventBody[] = [];
    for (const delta of this.#fresh) {
      if (isTextDelta(delta) && !this.#saved.has(delta.message)) this.#saved.set(delta.message, []);
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
      if (isTextDelta(delta)) covered.push(delta);
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

/** For each part of a message, the length of the text that a reader has received, in UTF-16 units. */
export class ReaderOffsets {
  readonly #ends = new Map<string, number>();

  of(message: string, part: number): number | undefined {
    return this.#ends.get(`${message} ${part}`);
  }

  /** Records a received fragment, or its first `length` units. */
  hear({ message, part, begins = 0, text }: TextDelta, length = text.length): void {
    this.#ends.set(`${message} ${part}`, begins + length);
  }
}

export function isTextDelta<Said extends DeltaBody>(delta: Said): delta is Extract<Said, TextBody> {
  return delta.type === "text.delta" || delta.type === "reasoning.delta";
}

export function deltaStart({ message, part: index }: TextBody, state: ConversationState): number {
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

/** Adds a delta, or merges it with the last one if both continue the same text. */
function push(deltas: Delta[], delta: Delta): void {
  const last = deltas.at(-1);
  const merged = last && mergeDeltas(last, delta);
  if (merged) deltas[deltas.length - 1] = deltaTail(merged);
  else deltas.push(delta);
}

/** Output and drafts of a call continue after its message is complete. */
function isOfRunningCall({ type }: Delta): boolean {
  return type === "call.output.delta" || type === "call.draft.delta";
}

/** Keeps only the end of a call's output. Text is kept whole. */
function deltaTail(delta: Delta): Delta {
  if (delta.type !== "call.output.delta" || delta.text.length <= 2 * OUTPUT_SHOWN) return delta;
  return { ...delta, text: delta.text.slice(-OUTPUT_SHOWN) };
}
