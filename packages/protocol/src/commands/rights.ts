import type { CommandName } from "./index.ts";

/**
 * Rights of a client. `show`: see one given conversation. `watch`: also see the other conversations, without changes.
 * `act`: change conversations and settings, and see files, providers and requests to the model. A share link gives
 * `show` for its conversation only (S29). See {@link rightFor}.
 */
export type Right = "show" | "watch" | "act";

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
 * Returns the right that a user needs for a command (S28). Commands without an entry need the right to act. Servers
 * check this right before they carry a command out, and clients check it before they offer the command.
 * @example rightFor("turn.say") // "act"
 */
export function rightFor(command: CommandName): Right {
  return Object.hasOwn(LESS, command) ? LESS[command as keyof typeof LESS] : "act";
}
