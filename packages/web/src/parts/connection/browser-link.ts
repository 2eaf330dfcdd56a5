import { ClientError, type Link, type LinkEvents, type OpenLink } from "@banyan/client";
import { closeCodes, PROTOCOL, type ServerFrame, SILENCE } from "@banyan/protocol";
import ReconnectingSocket from "partysocket/ws";
import { type Key, proofFor } from "./key.ts";
import { isSignedIn } from "./sign-in.ts";

/** Milliseconds before the first retry, the growth of each further delay, and the longest delay. */
const DELAY = { first: 300, growth: 1.5, longest: 10_000 };

/** Milliseconds that a connection must last to reset the delay: on a bad network, no connection lasts long. */
const LASTED = 100;

/** Connects to the server of this page, and reconnects after each loss. The key proves the page's sign-in (S20). */
export function browserLink(address: string, key: Key): OpenLink {
  return (events) => new BrowserLink(address, key, events);
}

class BrowserLink implements Link {
  readonly #address: string;
  readonly #key: Key;
  readonly #events: LinkEvents;
  #socket: ReconnectingSocket;
  #isOver = false;

  constructor(address: string, key: Key, events: LinkEvents) {
    this.#address = address;
    this.#key = key;
    this.#events = events;
    this.#socket = this.#open();
    // The browser notices a lost network at once; the silence timer needs a minute.
    window.addEventListener("offline", this.#lost);
    window.addEventListener("online", this.#found);
  }

  /** Called when the network is lost. A server on this machine is still reachable, and answers the next attempt. */
  readonly #lost = () => this.#socket.reconnect();
  readonly #found = () => this.retry();

  send(command: object): void {
    this.#socket.send(JSON.stringify(command));
  }

  retry(): void {
    if (this.#isOver) return;
    // The socket cannot end its wait early: replace it.
    this.#socket.close();
    this.#socket = this.#open();
  }

  close(): void {
    this.#isOver = true;
    window.removeEventListener("offline", this.#lost);
    window.removeEventListener("online", this.#found);
    this.#socket.close();
  }

  #open(): ReconnectingSocket {
    // The client, not the socket, keeps unsent commands with their ids.
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
      // A foreign server gets a proof that is valid nowhere else.
      const attempt = tries;
      proofFor(this.#key, frame.challenge)
        .then((proof) => {
          // The proof answers this challenge, and not that of a later connection.
          if (attempt === tries)
            socket.send(JSON.stringify({ type: "hello", protocol: PROTOCOL, client: "banyan page", proof }));
        })
        // A key that cannot sign is useless.
        .catch(() => this.#signedOut());
    });
    socket.addEventListener("close", ({ code }) => {
      clearTimeout(silence);
      tries++;
      if (socket !== this.#socket || this.#isOver) return;
      if (code === closeCodes.unproven) return this.#signedOut();
      // Browsers do not tell a page why the server refused a socket.
      if (!isKnown)
        isSignedIn().then(
          (isSo) => isSo || this.#signedOut(),
          () => this.#signedOut(),
        );
      isKnown = false;
      this.#events.down(Date.now() + this.#delay());
    });
    return socket;
  }

  #hear(frame: ServerFrame): void {
    if (frame.type === "welcome") this.#events.up(frame);
    else if (frame.type === "refused") this.#gone(new ClientError("refused", frame.message));
    else this.#events.frame(frame);
  }

  #signedOut(): void {
    this.#gone(new ClientError("signed-out", "The server no longer accepts this sign-in. Sign in again."));
  }

  #gone(error: ClientError): void {
    if (this.#isOver) return;
    this.close();
    this.#events.gone(error);
  }

  #delay(): number {
    const { first, growth, longest } = DELAY;
    return Math.min(longest, first * growth ** this.#socket.retryCount);
  }
}
