import { createId } from "@banyan/core/conversation";
import {
  type Command,
  type CommandName,
  closeCodes,
  PROTOCOL,
  type Problem,
  type Result,
  type ServerFrame,
  type ServerSettings,
  SILENCE,
  type Welcome,
} from "@banyan/protocol";
import ReconnectingSocket from "partysocket/ws";
import { type Key, proofFor } from "../sign-in/key.ts";
import { isSignedIn } from "../sign-in/signing.ts";

/** Milliseconds before the first, and at most before any, new try; each waits longer than the one before. */
const DELAY = { first: 300, growth: 1.5, longest: 10_000 };

/** Milliseconds that a connection must last for the next try to be a first one again: on a bad link none lasts long. */
const LASTED = 100;

/** How it stands with the server. `since` and `next`, the time of the next try, are milliseconds since 1970. */
export type ConnectionState =
  | { readonly phase: "connecting" }
  | { readonly phase: "open"; readonly welcome: Welcome }
  | { readonly phase: "lost"; readonly since: number; readonly next: number }
  | { readonly phase: "refused"; readonly message: string };

/** A command that the server did not carry out. */
class CommandError extends Error {
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
  /** Once it has gone out, the server may have acted on it. */
  isSent: boolean;
  readonly answer: PromiseWithResolvers<Result>;
}

/** What the page does with what it hears. */
export interface ConnectionListener {
  changed(state: ConnectionState): void;
  /** Every frame but the answers to commands, in order. */
  frame(frame: ServerFrame): void;
  /** The server does not take this browser for signed in, or no more. */
  signedOut(): void;
}

/**
 * The page's one connection. A command goes out as soon as there is a connection and again after each loss until it was
 * answered; the server acts on an id once.
 */
export class Connection {
  readonly #address: string;
  readonly #key: Key;
  #socket: ReconnectingSocket;
  readonly #listener: ConnectionListener;
  readonly #unanswered = new Map<string, Unanswered>();
  #state: ConnectionState = { phase: "connecting" };

  /** The key proves to the server that this page is the one that signed in. */
  constructor(address: string, key: Key, listener: ConnectionListener) {
    this.#address = address;
    this.#key = key;
    this.#listener = listener;
    this.#socket = this.#open();
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Asks for something; resolves with the answer, however often the connection is lost. Rejects with `CommandError`. */
  ask<Name extends CommandName>(type: Name, input: Input<Name>, id = createId()): Promise<Result<Name>> {
    const answer = Promise.withResolvers<Result>();
    const frame = JSON.stringify({ type, id, ...input });
    const unanswered = { frame, answer, isSent: false };
    this.#unanswered.set(id, unanswered);
    if (this.#state.phase === "open") this.#sendOut(unanswered);
    return answer.promise as Promise<Result<Name>>;
  }

  /** Takes back a command that was not sent; answers whether it could be. */
  cancel(id: string): boolean {
    const waiting = this.#unanswered.get(id);
    if (!waiting || waiting.isSent) return false;
    this.#unanswered.delete(id);
    waiting.answer.reject(new CommandError({ code: "cancelled", message: "You took it back before it was sent." }));
    return true;
  }

  /** Whether a command has gone out, so that it cannot be taken back any more. */
  isSent(id: string): boolean {
    return this.#unanswered.get(id)?.isSent ?? true;
  }

  /** Tries again now. */
  retry(): void {
    // The socket cannot be told to wait no longer: another one takes its place.
    this.#socket.close();
    this.#socket = this.#open();
  }

  close(): void {
    this.#socket.close();
  }

  #open(): ReconnectingSocket {
    // What is sent while there is no connection is kept here, with its id, and not in the socket.
    const socket = new ReconnectingSocket(this.#address, [], {
      maxEnqueuedMessages: 0,
      minReconnectionDelay: DELAY.first,
      reconnectionDelayGrowFactor: DELAY.growth,
      maxReconnectionDelay: DELAY.longest,
      minUptime: LASTED,
    });
    let silence: ReturnType<typeof setTimeout> | undefined;
    const isThere = () => {
      clearTimeout(silence);
      silence = setTimeout(() => socket.reconnect(), SILENCE);
    };
    let isKnown = false;
    let tries = 0;
    socket.addEventListener("open", isThere);
    socket.addEventListener("message", ({ data }) => {
      isThere();
      const frame = JSON.parse(String(data)) as ServerFrame;
      if (frame.type !== "challenge") {
        isKnown = true;
        return this.#hear(frame);
      }
      // A server that is none of ours gets a proof that is good nowhere else.
      const asked = tries;
      void proofFor(this.#key, frame.challenge).then((proof) => {
        // It answers this challenge, and not that of a connection which has come since.
        if (asked === tries)
          socket.send(JSON.stringify({ type: "hello", protocol: PROTOCOL, client: "banyan page", proof }));
      });
    });
    socket.addEventListener("close", ({ code }) => {
      clearTimeout(silence);
      tries++;
      if (socket !== this.#socket || this.#state.phase === "refused") return;
      if (code === closeCodes.unproven) return this.#listener.signedOut();
      // A browser does not tell a page why the server refused a socket.
      if (!isKnown) void isSignedIn().then((isSo) => isSo || this.#listener.signedOut());
      isKnown = false;
      const since = this.#state.phase === "lost" ? this.#state.since : Date.now();
      this.#become({ phase: "lost", since, next: Date.now() + this.#delay() });
    });
    return socket;
  }

  #hear(frame: ServerFrame): void {
    switch (frame.type) {
      case "welcome":
        this.#become({ phase: "open", welcome: frame });
        for (const unanswered of this.#unanswered.values()) this.#sendOut(unanswered);
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

  #sendOut(unanswered: Unanswered): void {
    unanswered.isSent = true;
    this.#socket.send(unanswered.frame);
  }

  /** Milliseconds that the socket waits after a connection that failed, as it counts them. */
  #delay(): number {
    const { first, growth, longest } = DELAY;
    return Math.min(longest, first * growth ** this.#socket.retryCount);
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
}
