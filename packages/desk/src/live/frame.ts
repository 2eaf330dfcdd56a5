import type { ConversationState, FeedItem } from "@banyan/core";
import type { Right, ServerFrame, SnapshotOf } from "@banyan/protocol";
import { type KeptOutline, snapshotOf } from "@banyan/protocol/values";
import type { ShareScope } from "../request/principal.ts";
import { itemInShare } from "./shown-only.ts";

/** A message to clients: an object for clients in this process, and bytes that other clients share. */
export class ClientFrame {
  readonly type: ServerFrame["type"];
  /** The error behind the frame, for clients in this process. */
  readonly cause: unknown;
  #told: ServerFrame | (() => ServerFrame);
  #bytes: Buffer | (() => Buffer);

  constructor(told: ServerFrame, { bytes, cause }: { readonly bytes?: Buffer; readonly cause?: unknown } = {}) {
    this.type = told.type;
    this.cause = cause;
    this.#told = told;
    this.#bytes = bytes ?? (() => Buffer.from(JSON.stringify(this.told)));
  }

  /** `texts`: the items as JSON, if the caller has them already. */
  static ofFeed(conversation: string, items: readonly FeedItem[], texts?: readonly string[]): ClientFrame {
    const bytes =
      texts &&
      Buffer.from(`{"type":"feed","conversation":${JSON.stringify(conversation)},"items":[${texts.join(",")}]}`);
    return new ClientFrame({ type: "feed", conversation, items }, bytes && { bytes });
  }

  /** Send the frame in this tick: the snapshot is made when a client needs it. */
  static ofSnapshot(state: ConversationState, of: SnapshotOf, outline: KeptOutline): ClientFrame {
    const frame = new ClientFrame({ type: "snapshot" } as ServerFrame);
    frame.#told = () => snapshotOf(state, of);
    frame.#bytes = () => Buffer.concat(outline.snapshot(state, of));
    return frame;
  }

  get told(): ServerFrame {
    if (typeof this.#told === "function") this.#told = this.#told();
    return this.#told;
  }

  get bytes(): Buffer {
    if (typeof this.#bytes === "function") this.#bytes = this.#bytes();
    return this.#bytes;
  }
}

/** The rights of a client, which decide which feed items the client gets. */
export interface FeedViewer {
  readonly rights: readonly Right[];
  readonly only?: ShareScope;
}

/**
 * Returns the item as this client may see it, or `undefined`. A shared link shows only its conversation (S29). Clients
 * without the right to act do not see content that only the model gets (S28).
 */
export function itemForViewer<Item extends FeedItem>(item: Item, viewer: FeedViewer): Item | undefined {
  // `itemInShare` maps an event to an event.
  if (viewer.only) return itemInShare(item, viewer.only) as Item | undefined;
  return seesAllOf(item, viewer) ? item : { ...item, text: "" };
}

/** Instructions and tool schemas need the right to act (S28). All clients see a call's files. */
function seesAllOf(item: FeedItem, { rights }: FeedViewer): boolean {
  return item.type !== "content.stored" || item.mediaType !== undefined || rights.includes("act");
}
