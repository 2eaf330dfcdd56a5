import type { Event } from "@banyan/core";
import type { EventBody } from "@banyan/core/conversation";

/** The text of every message. */
const TEXT = "A banyan is a fig that begins its life in the crown of another tree and lets its roots down. ".repeat(3);

/** Returns the events of a conversation: user and model alternate on one path, three events per pair. */
export function conversationOf(count: number, epoch: number, first = 1): Event[] {
  const usage = { input: 10, cached: 0, cacheWrite: 0, output: 70, reasoning: 0 };
  const bodyAt = (seq: number): EventBody => {
    const exchange = Math.floor((seq - 1) / 3);
    const [asked, answered] = [`q${exchange}`, `a${exchange}`];
    switch ((seq - 1) % 3) {
      case 0: {
        const parentId = exchange === 0 ? null : `a${exchange - 1}`;
        return {
          type: "message.added",
          message: asked,
          parentId,
          role: "user",
          parts: [{ type: "text", text: "Go on." }],
        };
      }
      case 1:
        return { type: "message.started", message: answered, parentId: asked, run: "r", model: "a/b" };
      default:
        return {
          type: "message.completed",
          message: answered,
          parts: [{ type: "text", text: TEXT }],
          finish: "stop",
          usage,
        };
    }
  };
  return Array.from({ length: count }, (_, index) => {
    const seq = first + index;
    return { ...bodyAt(seq), seq, epoch, at: 1_750_000_000_000 + seq };
  });
}
