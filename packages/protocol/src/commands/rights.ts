import type { CommandName } from "./index.ts";

/**
 * Rights of a client. `show`: see a given conversation. `watch`: also see the other conversations, without changes.
 * `act`: change conversations and settings, and see the data behind them (files, providers, requests to the model). A
 * share link gives `show` for its conversation only (S29).
 */
export type Right = "show" | "watch" | "act";

/** Commands that need less than the right to act. */
const LESS = {
  "conversation.list": "watch",
  "conversation.watch": "watch",
  "conversation.search": "watch",
  "conversation.open": "watch",
  "conversation.export": "watch",
  "feed.subscribe": "show",
  "feed.unsubscribe": "show",
  "message.read": "show",
  "question.list": "watch",
} as const satisfies Partial<Record<CommandName, Right>>;

/**
 * Returns the right that a command needs (S28); commands without an entry need the right to act. Servers check it before
 * carrying a command out, clients before offering it, and docs/protocol.md is compared with it. The server's token records
 * hold the rights of clients (S4).
 */
export function rightFor(command: CommandName): Right {
  return Object.hasOwn(LESS, command) ? LESS[command as keyof typeof LESS] : "act";
}
