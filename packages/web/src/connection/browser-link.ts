import { ClientError, type Link, type LinkEvents, type OpenLink } from "@banyan/client";
import { closeCodes, PROTOCOL, type ServerFrame, SILENCE } from "@banyan/protocol";
import ReconnectingSocket from "partysocket/ws";
import { type Key, proofFor } from "../sign-in/key.ts";
import { isSignedIn } from "../sign-in/signing.ts";

/** Milliseconds before the first, and at most before any, new try; each waits longer than the one before. */
const DELAY = { first: 300, growth: 1.5, longest: 10_000 };

/** Milliseconds that a connection must last for the next try to be a first one again: on a bad link none lasts long. */
const LASTED = 100;

/** A link to the server of this page. The key proves to it that the page is the one that signed in (S20). */
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
    // The browser knows at once what silence would tell in a minute.
    window.addEventListener("offline", this.#lost);
    window.addEventListener("online", this.#found);
  }

  /** A server on this machine is there still: it answers the next try. */
  readonly #lost = () => this.#socket.reconnect();
  readonly #found = () => this.retry();

  send(command: object): void {
    this.#socket.send(JSON.stringify(command));
  }

  retry(): void {
    if (this.#isOver) return;
    // The socket cannot be told to wait no longer: another one takes its place.
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
    // What is sent while there is no connection is kept by the client, with its id, and not in the socket.
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
      proofFor(this.#key, frame.challenge)
        .then((proof) => {
          // It answers this challenge, and not that of a connection which has come since.
          if (asked === tries)
            socket.send(JSON.stringify({ type: "hello", protocol: PROTOCOL, client: "banyan page", proof }));
        })
        // A key that proves nothing is of no use any more.
        .catch(() => this.#signedOut());
    });
    socket.addEventListener("close", ({ code }) => {
      clearTimeout(silence);
      tries++;
      if (socket !== this.#socket || this.#isOver) return;
      if (code === closeCodes.unproven) return this.#signedOut();
      // A browser does not tell a page why the server refused a socket.
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
    this.#gone(new ClientError("signed-out", "The server does not know this sign-in any more."));
  }

  #gone(error: ClientError): void {
    if (this.#isOver) return;
    this.close();
    this.#events.gone(error);
  }

  /** Milliseconds that the socket waits after a connection that failed, as it counts them. */
  #delay(): number {
    const { first, growth, longest } = DELAY;
    return Math.min(longest, first * growth ** this.#socket.retryCount);
  }
}
