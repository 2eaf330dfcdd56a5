import type { Event, FeedItem } from "@banyan/core";
import type { Right } from "@banyan/protocol";

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
