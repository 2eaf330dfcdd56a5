import type { ServerSettings } from "./frames.ts";

/**
 * Rights of a client. `show`: see a given conversation. `watch`: also see the other conversations, without changes.
 * `act`: change conversations and settings, and see the data behind them (files, providers, requests to the model). A
 * share link gives `show` for its conversation only (S29).
 */
export type Right = "show" | "watch" | "act";

/**
 * The right that each command needs (S28). Servers check it before carrying a command out, clients before offering it,
 * and docs/protocol.md is compared with it. The server's token records hold the rights of clients (S4).
 */
export const rights = {
  "conversation.list": "watch",
  "conversation.watch": "watch",
  "conversation.search": "watch",
  "conversation.create": "act",
  "conversation.open": "watch",
  "conversation.rename": "act",
  "conversation.remove": "act",
  "conversation.seen": "act",
  "conversation.export": "watch",
  "conversation.import": "act",
  "feed.subscribe": "show",
  "feed.unsubscribe": "show",
  "message.read": "show",
  "context.read": "act",
  "turn.say": "act",
  "prompt.list": "act",
  "prompt.say": "act",
  "message.add": "act",
  "turn.retry": "act",
  "turn.resume": "act",
  "turn.hasten": "act",
  "run.interrupt": "act",
  "process.stop": "act",
  "input.edit": "act",
  "input.withdraw": "act",
  "branch.compact": "act",
  "branch.fan": "act",
  "branch.compare": "act",
  "branch.bring": "act",
  "worktree.open": "act",
  "worktree.list": "act",
  "worktree.remove": "act",
  "question.list": "watch",
  "question.answer": "act",
  "rule.revoke": "act",
  "message.label": "act",
  "summary.edit": "act",
  "memory.dismiss": "act",
  "message.star": "act",
  "message.remove": "act",
  "message.restore": "act",
  "model.list": "act",
  "model.use": "act",
  "approval.use": "act",
  "equipment.read": "act",
  "file.find": "act",
  "file.revert": "act",
  "file.undo": "act",
  "picture.read": "act",
  "share.create": "act",
  "share.list": "act",
  "share.revoke": "act",
} as const satisfies Readonly<Record<string, Right>>;

/** Returns the approval mode of a conversation; without an id, of a new conversation. */
export function approvalIn(
  { approval, unasked, carriedOut }: ServerSettings,
  conversation: string | undefined,
): ServerSettings["approval"] {
  if (conversation === undefined) return approval;
  if (unasked.includes(conversation)) return "all";
  return carriedOut.find((each) => each.conversation === conversation)?.approval ?? approval;
}
