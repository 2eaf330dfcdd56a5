import type { Delivery, UserPart } from "@banyan/core";
import { waitingLine, waitingWord } from "../../show/message-label.ts";
import type { FeedView } from "../../terminal/feed-view.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import type { TalkSession } from "../talk/talk-session.ts";
import type { Unsent } from "./unsent.ts";

/** What an interjection goes through. */
export interface InterjectionsOptions {
  readonly terminal: Terminal;
  readonly view: FeedView;
  readonly unsent: Unsent;
  /** Says a text to the run under way; resolves when it is in the log. */
  deliver(text: string, delivery: Delivery): Promise<void>;
  /** Keeps what goes along with a text that is said again. */
  keep(parts: readonly UserPart[]): void;
}

/** What a person says while the agent works (B21, T18). */
export class Interjections {
  readonly #options: InterjectionsOptions;
  /** What was taken back, by its id. */
  readonly #taken = new Set<string>();

  constructor(options: InterjectionsOptions) {
    this.#options = options;
  }

  /**
   * Says a line at once, to steer what the agent does, or, `later` or with `>` in front, after its turn. One that cannot be
   * said stands in the prompt again; why is thrown.
   */
  async say(line: string, later: boolean): Promise<void> {
    const { terminal, view, unsent, deliver } = this.#options;
    const [, behind] = /^>\s*(.*)$/s.exec(line) ?? [];
    const text = behind ?? line;
    if (text.trim() === "") return;
    const delivery: Delivery = later || behind !== undefined ? "queue" : "steer";
    using _ = unsent.sending(text);
    try {
      await deliver(text, delivery);
    } catch (error) {
      terminal.live?.insert(line);
      throw error;
    }
    // It is shown as waiting when it is in the log, and not before; where the screen is redrawn, it is in sight there.
    const waits = { parts: [{ type: "text", text }], delivery, held: false } as const;
    if (terminal.live) terminal.live.refresh();
    else view.note(waitingLine(waits, terminal.columns));
  }

  /** What was written last of what waits goes back into the prompt, to be changed. */
  async takeBack(session: Pick<TalkSession, "perform" | "state">): Promise<void> {
    const { terminal, unsent, keep } = this.#options;
    // The key may be pressed again before this is told of what it took.
    const input = session.state.inbox.findLast(({ id }) => !this.#taken.has(id));
    if (!input) return;
    this.#taken.add(input.id);
    const [typed] = input.parts;
    const text = typed?.type === "text" ? typed.text : "";
    using _ = unsent.sending(text);
    try {
      await session.perform("input.withdraw", { input: input.id });
    } catch (error) {
      this.#taken.delete(input.id);
      throw error;
    }
    keep(input.parts);
    terminal.live?.takeBack(text, waitingWord(input));
  }
}
