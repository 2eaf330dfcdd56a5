import type { Event } from "../conversation/event.ts";
import type { Cursor, Delta } from "../conversation/feed-item.ts";
import { readableEvent } from "../conversation/tree/readable-event.ts";
import type { ResponseSources } from "../past/response-sources.ts";
import type { Log } from "../ports/store.ts";
import type { FeedReader } from "./feed.ts";
import { isTextDelta, ReaderOffsets, type StreamingBuffer } from "./streaming-buffer.ts";

interface ReplaySource {
  readonly log: Log;
  readonly epoch: number;
  /** Sequence number of the last event before this epoch. */
  readonly openedAt: number;
  /** Sequence number of the last event so far. */
  readonly upTo: number;
  readonly streaming: StreamingBuffer;
  readonly sources: ResponseSources;
  /** Ends of responses that a stopped process left unfinished. The reader may have more of their text than the log. */
  readonly left: readonly CompletedParts[];
}

/**
 * Replays to a reader all items after its cursor. The reader must have joined in the same tick; live items wait in the
 * reader until the replay ends. Text of events also comes as deltas, for readers that use only deltas (W81).
 */
export async function replay(reader: FeedReader, from: Cursor, missed: ReplaySource): Promise<void> {
  const { log, epoch, openedAt, upTo, streaming } = missed;
  const sources = missed.sources.copy();
  reader.hold();
  const isForeign = from.epoch !== epoch;
  const known = isForeign ? { epoch, seq: Math.min(from.seq, openedAt), offset: 0 } : from;
  // A fragment sorts after the event that it followed, so cursors only ever grow.
  const fresh = streaming.after(known);
  const kept = streaming.keptAfter(known);
  const text = new ReplayedText(reader, known, isForeign ? new ReaderOffsets() : streaming.heardAt(known), sources);
  for (const ended of missed.left) text.takeBack(ended, { ...known, epoch: from.epoch });
  if (isForeign) reader.replay({ type: "feed.reset", epoch, seq: known.seq });
  const tellUpTo = (seq: number) => {
    for (;;) {
      const next = isLaterDelta(kept[0], fresh[0]) ? fresh : kept;
      const delta = next[0];
      if (!delta || delta.seq >= seq) return;
      next.shift();
      // A kept delta may begin after text that only the log has: a later event contains both.
      if (next === fresh || text.follows(delta)) text.tell(delta);
    }
  };
  for await (const events of log.read(known.seq)) {
    for (const event of events.map(readableEvent)) {
      if (event.seq > upTo) break;
      tellUpTo(event.seq);
      sources.add(event);
      text.tellMissing(event);
      reader.replay(event);
    }
    await reader.drained();
    if (reader.ended) return;
  }
  tellUpTo(Number.POSITIVE_INFINITY);
  reader.release();
}

function isLaterDelta(one: Delta | undefined, other: Delta | undefined): boolean {
  if (!one || !other) return !one;
  return one.seq === other.seq ? one.offset > other.offset : one.seq > other.seq;
}

/** Replays text to a reader, each unit only once if the position of the reader is known. */
class ReplayedText {
  readonly #reader: FeedReader;
  readonly #heard: ReaderOffsets;
  readonly #sources: ResponseSources;
  #at: { readonly seq: number; readonly offset: number };

  constructor(reader: FeedReader, at: Cursor, heard: ReaderOffsets, sources: ResponseSources) {
    this.#reader = reader;
    this.#at = at;
    this.#heard = heard;
    this.#sources = sources;
  }

  /** True if a delta begins at or before the end of the text that the reader has. */
  follows(delta: Delta): boolean {
    if (!isTextDelta(delta)) return true;
    const { message, part, begins = 0 } = delta;
    return begins <= (this.#heard.of(message, part) ?? 0);
  }

  tell(delta: Delta): void {
    if (isTextDelta(delta)) this.#heard.hear(delta);
    this.#at = delta;
    this.#reader.replay(delta);
  }

  /** Replays the text of an event that no delta contained. */
  tellMissing(event: Event): void {
    switch (event.type) {
      case "message.checkpoint":
        for (const { index, type, offset, text } of event.parts) {
          const heard = this.#heard.of(event.message, index) ?? offset;
          this.#say(event, index, type, Math.max(heard, offset), text.slice(Math.max(0, heard - offset)));
        }
        break;
      case "message.completed":
        event.parts.forEach((part, index) => {
          if (part.type !== "text" && part.type !== "reasoning") return;
          const heard = this.#heard.of(event.message, index) ?? 0;
          this.#say(event, index, part.type, heard, part.text.slice(heard));
        });
    }
  }

  /** Reports where the text of an abandoned response ends: the reader discards its text after this point. */
  takeBack({ message, parts }: CompletedParts, at: Cursor): void {
    for (const [index, part] of parts.entries()) {
      if (part.type !== "text" && part.type !== "reasoning") continue;
      const end = { message, part: index, text: "", begins: part.text.length };
      this.#reader.replay({ type: `${part.type}.delta`, ...end, ...this.#sources.of(message), ...at });
    }
  }

  /** The cursor does not move: a reader that resumes from there gets the delta again. */
  #say(event: Event & { readonly message: string }, part: number, kind: TextKind, begins: number, text: string): void {
    if (text === "") return;
    const { message, epoch } = event;
    const seq = event.seq - 1;
    const offset = this.#at.seq === seq ? this.#at.offset : 0;
    const source = this.#sources.of(message);
    this.tell({ type: `${kind}.delta`, message, part, text, begins, ...source, epoch, seq, offset });
  }
}

type CompletedParts = Pick<Extract<Event, { readonly type: "message.completed" }>, "message" | "parts">;

type TextKind = "text" | "reasoning";
