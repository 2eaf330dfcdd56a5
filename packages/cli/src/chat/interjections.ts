import type { Delivery, Session, UserPart } from "@banyan/core";
import { waitingLine } from "../show/waiting-line.ts";
import type { FeedView } from "../terminal/feed-view.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** What a person says while the agent works (B21, T18). */
export class Interjections {
  readonly #terminal: Terminal;
  readonly #view: FeedView;
  readonly #message: (text: string) => Promise<readonly UserPart[]>;

  /** `message`: a text as it goes into the conversation. */
  constructor(terminal: Terminal, view: FeedView, message: (text: string) => Promise<readonly UserPart[]>) {
    this.#terminal = terminal;
    this.#view = view;
    this.#message = message;
  }

  /** Says a line at once, to steer what the agent does, or, `later` or with `>` in front, after its turn. */
  async say(session: Session, line: string, later: boolean): Promise<void> {
    const [, behind] = /^>\s*(.*)$/s.exec(line) ?? [];
    const text = behind ?? line;
    if (text.trim() === "") return;
    const delivery: Delivery = later || behind !== undefined ? "queue" : "steer";
    const parts = await this.#message(text);
    await session.say(parts, { delivery });
    // It is shown as waiting when it is in the log, and not before; where the screen is redrawn, it is in sight there.
    if (this.#terminal.live) this.#terminal.live.refresh();
    else this.#view.note(waitingLine({ parts, delivery, held: false }, this.#terminal.columns));
  }

  /** What waits goes back into the prompt, to be changed. */
  async takeBack(session: Session): Promise<void> {
    const inbox = [...session.state.inbox];
    for (const { id } of inbox) await session.withdrawInput(id);
    const texts = inbox.flatMap(({ parts: [typed] }) => (typed?.type === "text" ? [typed.text] : []));
    if (texts.length > 0) this.#terminal.live?.insert(texts.join("\n"));
  }
}
