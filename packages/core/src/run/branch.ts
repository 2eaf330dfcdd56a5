import type { Message } from "../conversation/message.ts";
import { forgetBefore } from "../conversation/tree/forget.ts";
import { afterSummary, isShortening, isSummary, pathTo } from "../conversation/tree/path.ts";
import type { PromptMessage } from "../ports/model.ts";
import type { Session } from "../session/session.ts";
import { appendTo, completable, isShown, promptFrom } from "./prompt.ts";

/**
 * The path that a chat writes along, with its prompt, both kept as they grow: a step costs nothing for the messages
 * before it but handing them to the driver.
 */
export class Branch {
  readonly #session: Session;
  #path: Message[];
  #prompt: PromptMessage[];
  /** Messages of the path that are in the prompt. */
  #shown: number;
  #dismissals: number;

  constructor(session: Session, leaf: string | null) {
    this.#session = session;
    this.#path = pathTo(session.state, leaf);
    this.#prompt = promptFrom(this.#path);
    this.#shown = this.#path.length;
    this.#dismissals = session.state.dismissals;
  }

  get path(): readonly Message[] {
    this.#followDismissals();
    return this.#path;
  }

  get leaf(): string | null {
    return this.#path.at(-1)?.id ?? null;
  }

  /** Puts a message of the session's state at the end. */
  extend(id: string): Message {
    const message = this.#session.state.messages.get(id);
    if (!message) throw new Error(`Message ${id} is not in the conversation.`);
    this.#path.push(message);
    return message;
  }

  /** Takes the last message off: it was abandoned. */
  shorten(): void {
    this.#path.pop();
    if (this.#shown > this.#path.length) this.#rebuild();
  }

  /** Shows messages anew that were shown before they had settled. */
  showAnew(): void {
    this.#rebuild();
  }

  /** The prompt for the next model call. All messages of the path must have ended. */
  prompt(): readonly PromptMessage[] {
    this.#followDismissals();
    for (; this.#shown < this.#path.length; this.#shown++) {
      const message = this.#path[this.#shown] as Message;
      // Reduced states replace a message when memory adds to it.
      const current = this.#session.state.messages.get(message.id) ?? message;
      this.#path[this.#shown] = current;
      if (isSummary(current) || isShortening(current)) {
        this.#rebuild();
        break;
      }
      appendTo(this.#prompt, current);
    }
    return completable(this.#prompt);
  }

  /** The prompt down to a message of the path, as in the last request: so it is read from the provider's cache. */
  promptTo(id: string): readonly PromptMessage[] {
    const end = this.path.findIndex((message) => message.id === id) + 1;
    // A summary stands in front of the messages above it that it leaves whole.
    return this.prompt().slice(0, afterSummary(this.#path.slice(0, end)).filter(isShown).length);
  }

  /** Drops what the session's window no longer holds, unless another run may still stand on it. */
  trim(): void {
    const { window, state } = this.#session;
    if (window === undefined || this.#path.length <= window || state.runs.size > 0) return;
    const left = forgetBefore(state, this.#path, window);
    if (!left) return;
    const forgotten = this.#path.length - left.length;
    const gone = this.#path.slice(0, forgotten);
    this.#path = left;
    if (this.#shown < forgotten || this.#path.some(isSummary)) return this.#rebuild();
    // The prompt follows the path, message by message: what is gone stood first in it.
    this.#prompt = this.#prompt.slice(gone.filter(isShown).length);
    this.#shown -= forgotten;
  }

  /** What a person does not want used any more was told with messages that stand on the path already. */
  #followDismissals(): void {
    const { state } = this.#session;
    if (state.dismissals === this.#dismissals) return;
    this.#dismissals = state.dismissals;
    this.#path = this.#path.map((message) => state.messages.get(message.id) ?? message);
    this.#prompt = promptFrom(this.#path.slice(0, this.#shown));
  }

  #rebuild(): void {
    this.#prompt = promptFrom(this.#path);
    this.#shown = this.#path.length;
  }
}
