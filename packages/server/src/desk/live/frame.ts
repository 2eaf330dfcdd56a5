import type { FeedItem } from "@banyan/core";
import type { ServerFrame } from "@banyan/protocol";

/** What is told to clients: as it is, for one in this process, and as text, which is made once for all others. */
export class Frame {
  readonly told: ServerFrame;
  #bytes: Buffer | undefined;

  constructor(told: ServerFrame, bytes?: Buffer) {
    this.told = told;
    this.#bytes = bytes;
  }

  /** A part of a feed. Whoever has its items as JSON already gives them as `texts`. */
  static ofFeed(conversation: string, items: readonly FeedItem[], texts?: readonly string[]): Frame {
    const bytes =
      texts &&
      Buffer.from(`{"type":"feed","conversation":${JSON.stringify(conversation)},"items":[${texts.join(",")}]}`);
    return new Frame({ type: "feed", conversation, items }, bytes);
  }

  /** As JSON in UTF-8. */
  get bytes(): Buffer {
    this.#bytes ??= Buffer.from(JSON.stringify(this.told));
    return this.#bytes;
  }
}
