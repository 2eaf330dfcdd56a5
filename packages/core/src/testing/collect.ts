import type { FeedItem } from "../conversation/feed-item.ts";
import { checkArguments, OptionError } from "../conversation/option-names.ts";

/**
 * Returns all items of a feed that ends.
 * @example const items = await collect(agent.chat(say("Hello")));
 */
export async function collect(feed: AsyncIterable<FeedItem>): Promise<FeedItem[]> {
  if (typeof feed?.[Symbol.asyncIterator] !== "function")
    throw new OptionError("feed of collect must be a chat, or a feed of a session.");
  const items: FeedItem[] = [];
  for await (const item of feed) items.push(item);
  return items;
}

/**
 * Reads a feed until an item matches, and returns the item. The feed stays open.
 * @example const call = await readUntil(agent.chat(say("Hello"))[Symbol.asyncIterator](), isEvent);
 */
export async function readUntil<T extends FeedItem>(
  feed: AsyncIterator<FeedItem>,
  fits: (item: FeedItem) => item is T,
): Promise<T>;
export async function readUntil(feed: AsyncIterator<FeedItem>, fits: (item: FeedItem) => boolean): Promise<FeedItem>;
export async function readUntil(feed: AsyncIterator<FeedItem>, fits: (item: FeedItem) => boolean): Promise<FeedItem> {
  if (typeof feed?.next !== "function")
    throw new OptionError("feed of readUntil must be an iterator, such as chat[Symbol.asyncIterator]().");
  checkArguments("readUntil", { fits }, { fits: "function" });
  for (;;) {
    const { value, done } = await feed.next();
    if (done) throw new Error("The feed ended before an item that fits.");
    if (fits(value)) return value;
  }
}
