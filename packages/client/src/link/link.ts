import type { Command, ServerFrame, Welcome } from "@banyan/protocol";
import type { OpenConversation } from "./tree.ts";

/** A way to a desk. When it is lost it comes back by itself, until it is closed. */
export interface Link {
  /** Sends a command, if the link is up. What was not sent is sent again by the client when the link is back. */
  send(command: Command): void;
  /** While it is lost: tries again now. */
  retry(): void;
  /** Ends it for good. Nothing is told any more. */
  close(): void;
}

/** What a link tells, in the order in which it happens. */
export interface LinkEvents {
  /** It is there, for the first time or again. */
  up(welcome: Welcome): void;
  /** Any frame but `welcome`. `cause`: the error that it tells of, where that happened in this process. */
  frame(frame: ServerFrame, cause?: unknown): void;
  /** A watched conversation is open in this process and can be read in place: this comes instead of a snapshot. */
  shared(conversation: OpenConversation): void;
  /** It was lost, or could not be had, and is tried again at `next`: milliseconds since 1970. */
  down(next: number): void;
  /** It cannot be had, or not any more. */
  gone(error: ClientError): void;
}

/** Opens a link, which tells nothing before this has returned. */
export type OpenLink = (events: LinkEvents) => Link;

/**
 * What was not carried out, or why nobody can be asked. `code` is one of the protocol's (`errorCodes`), or `unreachable`:
 * nothing answers at the address; `refused`: the token, the address or the version is not the server's; `signed-out`: the
 * server does not know this page's sign-in any more; `removed`, `broken`: the conversation is gone, or cannot be written any
 * more; `cancelled`: it was taken back before it was sent; `closed`: this client was closed. The message is a sentence for a
 * person; `cause` is the error itself where that happened in this process.
 */
export class ClientError extends Error {
  override readonly name = "ClientError";
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
