import { ClientError, type Link, type LinkEvents } from "@banyan/client";
import type { Session } from "@banyan/core";
import type { Command, ServerFrame, Welcome } from "@banyan/protocol";
import type { ClientFrame, FeedViewer } from "./live/frame.ts";
import type { ClientConnection } from "./live/subscription.ts";
import { OWNER, type Principal } from "./request/principal.ts";
import type { Seat } from "./seat.ts";

/** Options of `Desk.link`. See {@link Desk}. */
export interface LinkOptions {
  readonly principal?: Principal;
  /** True if the client reads the message trees in place, to save memory. Guests get copies. */
  readonly shares?: boolean;
  /** Receives the frames of a slow client, such as a pipe. Default: the client receives each frame at once. */
  readonly reader?: Pick<ClientConnection, "isFull" | "room"> | undefined;
}

interface SeatingDesk {
  seat(line: ClientConnection, principal: Principal): Seat;
  welcome(principal: Principal): Welcome;
}

/** A link in one process. A client with `shares` reads the trees in place and must not change them. */
export class InProcessLink implements Link, ClientConnection {
  readonly viewer: FeedViewer;
  /** Called instead of sending a snapshot, for a client with `shares`. */
  readonly share?: (session: Session) => void;
  readonly #reader: LinkOptions["reader"];
  readonly #events: LinkEvents;
  readonly #defect: (error: unknown) => void;
  #seat: Seat | undefined;
  /** Frames that the client has not received yet. */
  #told: (() => void)[] = [];
  #isOver = false;

  constructor(
    desk: SeatingDesk,
    { principal = OWNER, shares = false, reader }: LinkOptions,
    events: LinkEvents,
    defect: (error: unknown) => void,
  ) {
    this.viewer = principal;
    this.#reader = reader;
    this.#events = events;
    this.#defect = defect;
    if (shares && principal.rights.includes("act"))
      this.share = (session) => this.#tell(() => this.#events.shared(session));
    // A client must have its link before the first frame arrives.
    queueMicrotask(() => {
      if (this.#isOver) return;
      this.#seat = desk.seat(this, principal);
      this.#hand(() => this.#events.up(desk.welcome(principal)));
    });
  }

  get isFull(): boolean {
    return this.#reader?.isFull ?? false;
  }

  async room(): Promise<void> {
    await this.#reader?.room();
  }

  send(sent: ClientFrame | Command): void {
    if (!("told" in sent)) return this.#seat?.ask(structuredClone(sent));
    const frame = this.share ? sent.told : ownCopyOf(sent.told);
    this.#tell(() => this.#take(frame, sent.cause));
  }

  /** This link has no temporary losses. */
  retry(): void {}

  close(): void {
    this.#isOver = true;
    this.#seat?.leave();
  }

  #tell(telling: () => void): void {
    this.#told.push(telling);
    if (this.#told.length === 1) queueMicrotask(() => this.#tellAll());
  }

  #tellAll(): void {
    const told = this.#told;
    this.#told = [];
    for (const telling of told) if (!this.#isOver) this.#hand(telling);
  }

  #take(frame: ServerFrame, cause: unknown): void {
    if (frame.type !== "stopping") return this.#events.frame(frame, cause);
    this.close();
    this.#events.gone(new ClientError("stopping", frame.message));
  }

  /** An error of the client must not reach the sender. */
  #hand(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      this.#defect(error);
    }
  }
}

/** A delta needs no copy: it is flat, and clients only read it. */
function ownCopyOf(frame: ServerFrame): ServerFrame {
  return frame.type === "feed" ? { ...frame, items: frame.items.map(ownCopy) } : structuredClone(frame);
}

function ownCopy<Item extends object>(item: Item): Item {
  return "offset" in item ? item : structuredClone(item);
}
