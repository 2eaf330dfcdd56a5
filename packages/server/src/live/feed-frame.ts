import type { ServerFrame } from "@banyan/protocol";

/** A `feed` frame of items that are JSON already. */
export function feedFrame(conversation: string, items: readonly string[]): Buffer {
  return Buffer.from(`{"type":"feed","conversation":${JSON.stringify(conversation)},"items":[${items.join(",")}]}`);
}

/** Any other frame. */
export function frameOf(frame: ServerFrame): Buffer {
  return Buffer.from(JSON.stringify(frame));
}
