import type { Event } from "../conversation/event.ts";
import type { Cursor, Delta } from "../conversation/feed-item.ts";
import { readableEvent } from "../conversation/tree/readable-event.ts";
import type { Voices } from "../past/voices.ts";
import type { Log } from "../ports/store.ts";
import type { FeedReader } from "./feed.ts";
import { Heard, isText, type Streaming } from "./streaming.ts";

/** What there is to show to a reader that comes from a cursor. */
interface Missed {
  readonly log: Log;
  readonly epoch: number;
  /** The last event that was there before this epoch. */
  readonly openedAt: number;
  /** The last event so far. */
  readonly upTo: number;
  readonly streaming: Streaming;
  readonly voices: Voices;
  /** How responses ended that a process left in the middle: for a reader that may have heard more of them. */
  readonly left: readonly Ended[];
}

/**
 * Shows a reader what came after its cursor, from the log and from what streams. What is live waits in the reader
 * meanwhile: it has to have joined in the same tick. Text that only an event has comes as deltas before that event, so that
 * a reader of deltas alone has all of it (W81): the deltas that were told where they are still known, else deltas that
 * begin at the latest where its own text ends.
 */
export async function replay(reader: FeedReader, from: Cursor, missed: Missed): Promise<void> {
  const { log, epoch, openedAt, upTo, streaming } = missed;
  const voices = missed.voices.again();
  reader.hold();
  const isForeign = from.epoch !== epoch;
  const known = isForeign ? { epoch, seq: Math.min(from.seq, openedAt), offset: 0 } : from;
  // A fragment stands behind the event that it came after, so that cursors only ever grow.
  const fresh = streaming.after(known);
  const kept = streaming.keptAfter(known);
  const text = new ReplayedText(reader, known, isForeign ? new Heard() : streaming.heardAt(known), voices);
  for (const ended of missed.left) text.takeBack(ended, { ...known, epoch: from.epoch });
  if (isForeign) reader.replay({ type: "feed.reset", epoch, seq: known.seq });
  const tellUpTo = (seq: number) => {
    for (;;) {
      const next = isBehind(kept[0], fresh[0]) ? fresh : kept;
      const delta = next[0];
      if (!delta || delta.seq >= seq) return;
      next.shift();
      // What was kept may begin behind text that only the log has: an event further on says both.
      if (next === fresh || text.follows(delta)) text.tell(delta);
    }
  };
  for await (const events of log.read(known.seq)) {
    for (const event of events.map(readableEvent)) {
      if (event.seq > upTo) break;
      tellUpTo(event.seq);
      voices.hear(event);
      text.tellMissing(event);
      reader.replay(event);
    }
    await reader.drained();
    if (reader.ended) return;
  }
  tellUpTo(Number.POSITIVE_INFINITY);
  reader.release();
}

function isBehind(one: Delta | undefined, other: Delta | undefined): boolean {
  if (!one || !other) return !one;
  return one.seq === other.seq ? one.offset > other.offset : one.seq > other.seq;
}

/** The text of what is replayed, each unit of it once where that can be known. */
class ReplayedText {
  readonly #reader: FeedReader;
  readonly #heard: Heard;
  readonly #voices: Voices;
  #at: { readonly seq: number; readonly offset: number };

  constructor(reader: FeedReader, at: Cursor, heard: Heard, voices: Voices) {
    this.#reader = reader;
    this.#at = at;
    this.#heard = heard;
    this.#voices = voices;
  }

  /** Whether a delta goes on where the text that the reader has heard ends, or before. */
  follows(delta: Delta): boolean {
    if (!isText(delta)) return true;
    const { message, part, begins = 0 } = delta;
    return begins <= (this.#heard.of(message, part) ?? 0);
  }

  tell(delta: Delta): void {
    if (isText(delta)) this.#heard.hear(delta);
    this.#at = delta;
    this.#reader.replay(delta);
  }

  /** What an event says and no delta has said. */
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

  /** Says where the text of a response ends that nobody goes on with: what the reader heard beyond it is lost. */
  takeBack({ message, parts }: Ended, at: Cursor): void {
    for (const [index, part] of parts.entries()) {
      if (part.type !== "text" && part.type !== "reasoning") continue;
      const end = { message, part: index, text: "", begins: part.text.length };
      this.#reader.replay({ type: `${part.type}.delta`, ...end, ...this.#voices.of(message), ...at });
    }
  }

  /** A delta before its event. It moves no cursor: a reader that comes again from there is told the same again. */
  #say(event: Event & { readonly message: string }, part: number, kind: Kind, begins: number, text: string): void {
    if (text === "") return;
    const { message, epoch } = event;
    const seq = event.seq - 1;
    const offset = this.#at.seq === seq ? this.#at.offset : 0;
    const voice = this.#voices.of(message);
    this.tell({ type: `${kind}.delta`, message, part, text, begins, ...voice, epoch, seq, offset });
  }
}

type Ended = Pick<Extract<Event, { readonly type: "message.completed" }>, "message" | "parts">;

type Kind = "text" | "reasoning";
