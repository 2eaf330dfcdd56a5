import type { Delivery, UserPart } from "@banyan/core";
import { waitingLine, waitingWord } from "../../show/message-label.ts";
import type { Terminal } from "../../terminal/contract/terminal.ts";
import type { FeedView } from "../../terminal/questions/feed-view.ts";
import type { TalkSession } from "../session/talk-session.ts";
import type { UnsentTexts } from "./unsent-texts.ts";

export interface InterjectionsOptions {
  readonly terminal: Terminal;
  readonly view: FeedView;
  readonly unsent: UnsentTexts;
  /** Sends a text to the live run. Resolves when the text is in the log. */
  deliver(text: string, delivery: Delivery): Promise<void>;
  /** Keeps the attachments of a text that is sent again. */
  keep(parts: readonly UserPart[]): void;
}

/** Messages that the user sends while the agent works (B21, T18). */
export class Interjections {
  readonly #options: InterjectionsOptions;
  readonly #taken = new Set<string>();

  constructor(options: InterjectionsOptions) {
    this.#options = options;
  }

  /**
   * Sends a line at once to steer the agent, or after its turn if `later` or the line begins with `>`. If that fails,
   * the line returns to the prompt, and the error is thrown.
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
    // A message waits once it is in the log. A full terminal shows it by itself.
    const waits = { parts: [{ type: "text", text }], delivery, held: false } as const;
    if (terminal.live) terminal.live.refresh();
    else view.note(waitingLine(waits, terminal.columns));
  }

  /** Withdraws the newest queued message, and puts its text into the prompt. */
  async takeBack(session: Pick<TalkSession, "perform" | "state">): Promise<void> {
    const { terminal, unsent, keep } = this.#options;
    // The key may be pressed again before the state shows the withdrawal.
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
