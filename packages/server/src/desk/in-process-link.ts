import type { Command, ServerFrame } from "@banyan/protocol";
import { ClientError, type Link, type LinkEvents } from "@banyan/protocol/client";
import type { Desk } from "./desk.ts";
import type { Frame } from "./live/frame.ts";
import type { Viewer } from "./live/shown-item.ts";
import type { Line } from "./live/subscription.ts";
import type { Principal } from "./principal.ts";
import type { Seat } from "./seat.ts";

/**
 * A link without a network: what is told is handed over, and nothing is made text or checked that one process says to
 * itself. Each side has its own copy of what is a state, since both change theirs as the feed goes on.
 */
export class InProcessLink implements Link, Line {
  readonly viewer: Viewer;
  /** Its client takes what it is told in the same tick. */
  readonly isFull = false;
  readonly #events: LinkEvents;
  readonly #defect: (error: unknown) => void;
  #seat: Seat | undefined;
  /** What the client has not been told yet, in order. */
  #told: ServerFrame[] = [];
  #isOver = false;

  constructor(desk: Desk, principal: Principal, events: LinkEvents, defect: (error: unknown) => void) {
    this.viewer = principal;
    this.#events = events;
    this.#defect = defect;
    // Whoever opens a link is told nothing before they have it.
    queueMicrotask(() => {
      if (this.#isOver) return;
      this.#seat = desk.seat(this, principal);
      this.#hand(() => this.#events.up(desk.welcome(principal)));
    });
  }

  async room(): Promise<void> {}

  send(sent: Frame | Command): void {
    if ("told" in sent) this.#tell(sent.told);
    else this.#seat?.ask(structuredClone(sent));
  }

  /** It is never lost, but for good. */
  retry(): void {}

  close(): void {
    this.#isOver = true;
    this.#seat?.leave();
  }

  #tell(frame: ServerFrame): void {
    // A delta is flat, and everybody only reads it.
    this.#told.push(frame.type === "feed" ? { ...frame, items: frame.items.map(ownCopy) } : structuredClone(frame));
    if (this.#told.length === 1) queueMicrotask(() => this.#tellAll());
  }

  #tellAll(): void {
    const told = this.#told;
    this.#told = [];
    for (const frame of told) {
      if (this.#isOver) return;
      if (frame.type === "stopping") {
        this.close();
        return this.#hand(() => this.#events.gone(new ClientError("stopping", frame.message)));
      }
      this.#hand(() => this.#events.frame(frame));
    }
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

function ownCopy<Item extends object>(item: Item): Item {
  return "offset" in item ? item : structuredClone(item);
}
