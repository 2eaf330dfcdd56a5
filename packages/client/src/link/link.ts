import type { Command, ServerFrame, Welcome } from "@banyan/protocol";
import type { LocalConversation } from "./tree.ts";

/**
 * A connection to a server, or to a desk in this process. Reconnects by itself after a loss, until it is closed.
 * See {@link Client}.
 */
export interface Link {
  /** Sends a command if the link is up. The client sends other commands again when the link is back. */
  send(command: Command): void;
  /** While the link is lost: tries again now. */
  retry(): void;
  /** Closes the link for good. No more events follow. */
  close(): void;
}

/** Events of a link, in order. See {@link Client}. */
export interface LinkEvents {
  /** The link is up, for the first time or again. */
  up(welcome: Welcome): void;
  /** Any frame except `welcome`. `cause`: the original error if it happened in this process. */
  frame(frame: ServerFrame, cause?: unknown): void;
  /** A watched conversation is open in this process and can be read directly, without a snapshot. */
  shared(conversation: LocalConversation): void;
  /** The link was lost or could not be opened. The next attempt is at `next`, in milliseconds since 1970. */
  down(next: number): void;
  /** The link is gone for good. */
  gone(error: ClientError): void;
}

/** Opens a link. The link emits no events before this returns. See {@link nodeLink}. */
export type OpenLink = (events: LinkEvents) => Link;

/**
 * Error of a failed command, or of the end of a link. `code` is a code of the protocol (`errorCodes`), or
 * `unreachable`: no answer at the address; `refused`: wrong token, address or version; `signed-out`: the sign-in of
 * this page is no longer valid; `removed`, `broken`: the conversation is gone or cannot be written; `cancelled`:
 * cancelled before sending; `closed`: this client was closed. The message is a sentence for users. `cause` is the
 * original error if it happened in this process.
 * @example
 * await client.ask("conversation.create", {}).catch((error) => {
 *   if (error instanceof ClientError && error.code === "unreachable") console.error(error.message);
 * });
 */
export class ClientError extends Error {
  override readonly name = "ClientError";
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
