import type { FeedItem } from "@banyan/core";
import type { Right, ServerFrame } from "@banyan/protocol";
import type { Only } from "../principal.ts";
import { itemOnly } from "./shown-only.ts";

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
  readonly only?: Only;
}

/**
/**
 * An item as somebody may see it, and nothing when they may not: who has a link is shown what it shows (S29); of what was stored
 * for the model others see that it was (S28).
 */
export function shownTo<Item extends FeedItem>(item: Item, viewer: Viewer): Item | undefined {
  // An event stays an event.
  if (viewer.only) return itemOnly(item, viewer.only) as Item | undefined;
  return seesAllOf(item, viewer) ? item : { ...item, text: "" };
}

/**
 * Whether somebody sees all of an item: instructions and schemas of tools, which the model is sent, are for who may act (S28).
 * A file that a call brought is part of what everybody sees.
 */
function seesAllOf(item: FeedItem, { rights }: Viewer): boolean {
  return item.type !== "content.stored" || item.mediaType !== undefined || rights.includes("act");
}
