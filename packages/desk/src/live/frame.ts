import type { FeedItem } from "@banyan/core";
import type { Right, ServerFrame } from "@banyan/protocol";
import type { ShareScope } from "../request/principal.ts";
import { itemInShare } from "./shown-only.ts";

/** A frame for clients: as an object for clients in this process, and as bytes that all other clients share. */
export class ClientFrame {
  readonly told: ServerFrame;
  /** The error behind the frame, for a client of this process. */
  readonly cause: unknown;
  #bytes: Buffer | undefined;

  constructor(told: ServerFrame, { bytes, cause }: { readonly bytes?: Buffer; readonly cause?: unknown } = {}) {
    this.told = told;
    this.cause = cause;
    this.#bytes = bytes;
  }

  /** A frame with items of a feed. `texts` are the items as JSON, if the caller has them already. */
  static ofFeed(conversation: string, items: readonly FeedItem[], texts?: readonly string[]): ClientFrame {
    const bytes =
      texts &&
      Buffer.from(`{"type":"feed","conversation":${JSON.stringify(conversation)},"items":[${texts.join(",")}]}`);
    return new ClientFrame({ type: "feed", conversation, items }, bytes && { bytes });
  }

  /** The frame as JSON in UTF-8. */
  get bytes(): Buffer {
    this.#bytes ??= Buffer.from(JSON.stringify(this.told));
    return this.#bytes;
  }
}

/** The rights that decide which items of a feed a client gets. */
export interface FeedViewer {
  readonly rights: readonly Right[];
  readonly only?: ShareScope;
}

/**
 * Returns the item as this viewer may see it, or `undefined`. A link shows only its conversation (S29). Other viewers without the
 * right to act see that content was stored for the model, but not its text (S28).
 */
export function itemForViewer<Item extends FeedItem>(item: Item, viewer: FeedViewer): Item | undefined {
  // `itemInShare` maps an event to an event.
  if (viewer.only) return itemInShare(item, viewer.only) as Item | undefined;
  return seesAllOf(item, viewer) ? item : { ...item, text: "" };
}

/**
 * Returns whether a viewer sees all of an item. Instructions and tool schemas, which go to the model, need the right to act (S28).
 * Everybody sees a file that a call produced.
 */
function seesAllOf(item: FeedItem, { rights }: FeedViewer): boolean {
  return item.type !== "content.stored" || item.mediaType !== undefined || rights.includes("act");
}
