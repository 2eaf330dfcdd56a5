import type { Cursor } from "../conversation/event.ts";
import type { Log } from "../ports/store.ts";
import type { FeedReader } from "./feed.ts";
import type { Streaming } from "./streaming.ts";

/** What there is to show to a reader that comes from a cursor. */
interface Past {
  readonly log: Log;
  readonly epoch: number;
  /** The last event that was there before this epoch. */
  readonly openedAt: number;
  /** The last event so far. */
  readonly upTo: number;
  readonly streaming: Streaming;
}

/**
 * Shows a reader what came after its cursor, from the log and from what streams. What is live waits in the reader
 * meanwhile: it has to have joined in the same tick.
 */
export async function replay(reader: FeedReader, from: Cursor, past: Past): Promise<void> {
  const { log, epoch, openedAt, upTo, streaming } = past;
  reader.hold();
  const isForeign = from.epoch !== epoch;
  const known = isForeign ? { epoch, seq: Math.min(from.seq, openedAt), offset: 0 } : from;
  // A fragment stands behind the event that it came after, so that cursors only ever grow.
  const fresh = streaming.after(known);
  if (isForeign) reader.replay({ type: "feed.reset", epoch, seq: known.seq });
  for await (const events of log.read(known.seq)) {
    for (const event of events) {
      if (event.seq > upTo) break;
      for (; fresh[0] && fresh[0].seq < event.seq; fresh.shift()) reader.replay(fresh[0]);
      reader.replay(event);
    }
    await reader.drained();
    if (reader.ended) return;
  }
  for (const delta of fresh) reader.replay(delta);
  reader.release();
}
