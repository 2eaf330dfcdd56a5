import { createId } from "@banyan/core/conversation";
import type {
  Command,
  CommandName,
  Problem,
  Result,
  ServerFrame,
  ServerSettings,
  Welcome,
} from "@banyan/server/protocol";
import ReconnectingSocket from "partysocket/ws";

/** The version of the protocol that this page speaks. */
const PROTOCOL = "1.0";

/** How it stands with the server. `since` and `next` are milliseconds since 1970. */
export type ConnectionState =
  | { readonly phase: "connecting" }
  | { readonly phase: "open"; readonly welcome: Welcome }
  | { readonly phase: "lost"; readonly since: number }
  | { readonly phase: "refused"; readonly message: string };

/** A command that the server did not carry out. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly code: string;

  constructor({ code, message }: Problem) {
    super(message);
    this.code = code;
  }
}

/** What a command says beside its type and id. */
type Input<Name extends CommandName> = Omit<Extract<Command, { type: Name }>, "type" | "id">;

interface Unanswered {
  readonly frame: string;
  readonly answer: PromiseWithResolvers<Result>;
}

/** What the page does with what it hears. */
export interface ConnectionListener {
  changed(state: ConnectionState): void;
  /** Every frame but the answers to commands, in order. */
  frame(frame: ServerFrame): void;
}

/**
 * The page's one connection. A command goes out as soon as there is a connection and again after each loss until it was
 * answered; the server acts on an id once.
 */
export class Connection {
  readonly #socket: ReconnectingSocket;
  readonly #listener: ConnectionListener;
  readonly #unanswered = new Map<string, Unanswered>();
  #state: ConnectionState = { phase: "connecting" };

  constructor(address: string, listener: ConnectionListener) {
    this.#listener = listener;
    // What is sent while there is no connection is kept here, with its id, and not in the socket.
    this.#socket = new ReconnectingSocket(address, [], {
      maxEnqueuedMessages: 0,
      minReconnectionDelay: 300,
      maxReconnectionDelay: 10_000,
    });
    this.#socket.addEventListener("open", () =>
      this.#send({ type: "hello", protocol: PROTOCOL, client: "banyan page" }),
    );
    this.#socket.addEventListener("message", ({ data }) => this.#hear(JSON.parse(String(data)) as ServerFrame));
    this.#socket.addEventListener("close", () => {
      if (this.#state.phase === "open" || this.#state.phase === "connecting")
        this.#become({ phase: "lost", since: Date.now() });
    });
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Asks for something; resolves with the answer, however often the connection is lost. Rejects with `CommandError`. */
  ask<Name extends CommandName>(type: Name, input: Input<Name>, id = createId()): Promise<Result<Name>> {
    const answer = Promise.withResolvers<Result>();
    const frame = JSON.stringify({ type, id, ...input });
    this.#unanswered.set(id, { frame, answer });
    if (this.#state.phase === "open") this.#socket.send(frame);
    return answer.promise as Promise<Result<Name>>;
  }

  /** Takes back a command that was not sent; answers whether it could be. */
  cancel(id: string): boolean {
    const waiting = this.#unanswered.get(id);
    if (!waiting || this.#state.phase === "open") return false;
    this.#unanswered.delete(id);
    waiting.answer.reject(new CommandError({ code: "cancelled", message: "You took it back before it was sent." }));
    return true;
  }

  /** Tries again now. */
  retry(): void {
    this.#socket.reconnect();
  }

  close(): void {
    this.#socket.close();
  }

  #hear(frame: ServerFrame): void {
    switch (frame.type) {
      case "welcome":
        this.#become({ phase: "open", welcome: frame });
        for (const { frame: sent } of this.#unanswered.values()) this.#socket.send(sent);
        return;
      case "refused":
        this.#become({ phase: "refused", message: frame.message });
        this.#socket.close();
        return;
      case "done":
        this.#settle(frame.id)?.resolve(frame.result as Result);
        return;
      case "failed":
        this.#settle(frame.id)?.reject(new CommandError(frame.error));
        return;
      case "settings":
        this.#changeSettings(frame.settings);
        return;
      default:
        this.#listener.frame(frame);
    }
  }

  #settle(id: string): PromiseWithResolvers<Result> | undefined {
    const waiting = this.#unanswered.get(id);
    this.#unanswered.delete(id);
    return waiting?.answer;
  }

  #changeSettings(settings: ServerSettings): void {
    if (this.#state.phase === "open") this.#become({ phase: "open", welcome: { ...this.#state.welcome, settings } });
  }

  #become(state: ConnectionState): void {
    this.#state = state;
    this.#listener.changed(state);
  }

  #send(frame: object): void {
    this.#socket.send(JSON.stringify(frame));
  }
}
