import { createId, type Session, SessionError, type UserPart } from "@banyan/core";

/** A message that is to stand in a conversation, and where. */
export interface AddedMessage {
  readonly parts: readonly UserPart[];
  /** The message that it goes below; `null` at the root. */
  readonly parentId: string | null;
  readonly author: "user" | "system";
  /** Of the message; a new one when absent. */
  readonly id?: string;
}

/**
 * Adds a message without a turn: the model gets it with what is said next. Answers its id. Rejects with `SessionError`:
 * `no-message` when there is none to go below.
 */
export async function addMessage(session: Session, added: AddedMessage): Promise<string> {
  const { id: message = createId(), ...rest } = added;
  const { parentId } = rest;
  if (parentId !== null && !session.state.messages.has(parentId))
    throw new SessionError("no-message", `There is no message ${parentId} in this conversation.`);
  await session.commit([{ type: "message.added", message, role: "user", ...rest }], { durable: true });
  return message;
}
