import type { Event, FeedItem } from "@banyan/core";
import type { Right, ServerFrame } from "@banyan/protocol";

/** What is told to clients: as it is, for one in this process, and as text, which is made once for all others. */
export class Frame {
  readonly told: ServerFrame;
  /** The error that it tells of, for a client of this process. */
  readonly cause: unknown;
  #bytes: Buffer | undefined;

  constructor(told: ServerFrame, { bytes, cause }: { readonly bytes?: Buffer; readonly cause?: unknown } = {}) {
    this.told = told;
    this.cause = cause;
    this.#bytes = bytes;
  }

  /** A part of a feed. Whoever has its items as JSON already gives them as `texts`. */
  static ofFeed(conversation: string, items: readonly FeedItem[], texts?: readonly string[]): Frame {
    const bytes =
      texts &&
      Buffer.from(`{"type":"feed","conversation":${JSON.stringify(conversation)},"items":[${texts.join(",")}]}`);
    return new Frame({ type: "feed", conversation, items }, bytes && { bytes });
  }

  /** As JSON in UTF-8. */
  get bytes(): Buffer {
    this.#bytes ??= Buffer.from(JSON.stringify(this.told));
    return this.#bytes;
  }
}

/** Who gets items of a feed, by what they may do. */
export interface Viewer {
  readonly rights: readonly Right[];
}

/** Whether somebody sees all of an item: instructions and schemas of tools, which the model is sent, are for who may act (S28). */
export function seesAllOf(item: FeedItem, { rights }: Viewer): boolean {
  return item.type !== "content.stored" || rights.includes("act");
}

/** An item as somebody may see it: that something was stored, if not what. */
export function shownTo<Item extends FeedItem | Event>(item: Item, viewer: Viewer): Item {
  return seesAllOf(item, viewer) ? item : { ...item, text: "" };
}
