import { ClientError, type Link, type LinkEvents } from "@banyan/client";
import type { Session } from "@banyan/core";
import type { Command, ServerFrame } from "@banyan/protocol";
import type { Desk } from "./desk.ts";
import type { Frame, Viewer } from "./live/frame.ts";
import type { Line } from "./live/subscription.ts";
import { OWNER, type Principal } from "./principal.ts";
import type { Seat } from "./seat.ts";

/** Who takes a link to a desk of this process, and how. */
export interface LinkOptions {
  /** One who may do everything when absent. */
  readonly principal?: Principal;
  /** Trees are read where they are instead of being copied: less memory, for who only reads them. A guest, who must not see all of them, has copies. */
  readonly shares?: boolean;
  /**
   * Takes the frames for the client, where that needs time, as with a pipe: while it is full, the client is told nothing,
   * and afterwards all that came meanwhile. Default: the client takes each in the same tick.
   */
  readonly reader?: Pick<Line, "isFull" | "room"> | undefined;
}

/**
 * A link inside one process: frames are handed over as they are, not written as text and not checked. A client that shares
 * reads the trees in place, and must not change them (their types are read only); any other client has copies.
 */
export class InProcessLink implements Link, Line {
  readonly viewer: Viewer;
  /** Present for who shares: stands for a snapshot. */
  readonly share?: (session: Session) => void;
  readonly #reader: LinkOptions["reader"];
  readonly #events: LinkEvents;
  readonly #defect: (error: unknown) => void;
  #seat: Seat | undefined;
  /** What the client has not been told yet, in order. */
  #told: (() => void)[] = [];
  #isOver = false;

  constructor(
    desk: Desk,
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
    // Whoever opens a link is told nothing before they have it.
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

  send(sent: Frame | Command): void {
    if (!("told" in sent)) return this.#seat?.ask(structuredClone(sent));
    const frame = this.share ? sent.told : ownCopyOf(sent.told);
    this.#tell(() => this.#take(frame, sent.cause));
  }

  /** It is never lost, but for good. */
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

  /** What the client does with it must not reach those who told it. */
  #hand(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      this.#defect(error);
    }
  }
}

/** A delta is flat, and everybody only reads it. */
function ownCopyOf(frame: ServerFrame): ServerFrame {
  return frame.type === "feed" ? { ...frame, items: frame.items.map(ownCopy) } : structuredClone(frame);
}

function ownCopy<Item extends object>(item: Item): Item {
  return "offset" in item ? item : structuredClone(item);
}
