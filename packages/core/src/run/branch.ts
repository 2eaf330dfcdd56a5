import type { AssistantMessage, Message } from "../conversation/message.ts";
import { forgetBefore } from "../conversation/tree/forget.ts";
import { afterSummary, isShortening, isSummary, pathTo } from "../conversation/tree/path.ts";
import type { PromptMessage } from "../ports/model.ts";
import type { Session } from "../session/session.ts";
import { appendTo, isInPrompt, promptFrom, withContinuation } from "./prompt.ts";

/** The path of messages that a turn extends, and the prompt that the model gets. Steps extend both in place. */
export class RunBranch {
  readonly #session: Session;
  #path: Message[];
  #prompt: PromptMessage[];
  /** Number of messages of the path that are in the prompt. */
  #shown: number;
  #dismissals: number;
  /** True if the path has a summary or had one before it was trimmed. */
  #hasSummary: boolean;

  constructor(session: Session, leaf: string | null) {
    this.#session = session;
    this.#path = pathTo(session.state, leaf);
    this.#prompt = promptFrom(this.#path);
    this.#shown = this.#path.length;
    this.#dismissals = session.state.dismissals;
    this.#hasSummary = this.#path.some(({ role }) => role === "summary");
  }

  get path(): readonly Message[] {
    this.#followDismissals();
    return this.#path;
  }

  get leaf(): string | null {
    return this.#path.at(-1)?.id ?? null;
  }

  extend(id: string): Message {
    const message = this.#session.state.messages.get(id);
    if (!message) throw new Error(`Message ${id} is not in the conversation.`);
    this.#path.push(message);
    if (message.role === "summary") this.#hasSummary = true;
    return message;
  }

  /** Removes the last message, which was abandoned. */
  shorten(): void {
    this.#path.pop();
    if (this.#shown > this.#path.length) this.#rebuild();
  }

  /** Rebuilds the prompt after messages in it have changed, such as a response whose calls now have results. */
  showAnew(): void {
    this.#rebuild();
  }

  /** The prompt for the next model call. All messages of the path must have ended. */
  prompt(): readonly PromptMessage[] {
    this.#followDismissals();
    for (; this.#shown < this.#path.length; this.#shown++) {
      const message = this.#path[this.#shown] as Message;
      // The state holds a new object for a message after memory added to it.
      const current = this.#session.state.messages.get(message.id) ?? message;
      this.#path[this.#shown] = current;
      if (isSummary(current) || isShortening(current)) {
        this.#rebuild();
        break;
      }
      appendTo(this.#prompt, current);
    }
    return withContinuation(this.#prompt);
  }

  /** The prompt down to a message of the path, as in the last request, so that the provider's cache serves it. */
  promptTo(id: string): readonly PromptMessage[] {
    const end = this.path.findIndex((message) => message.id === id) + 1;
    // The messages above a summary that it leaves whole follow it in the prompt.
    return this.prompt().slice(0, afterSummary(this.#path.slice(0, end)).filter(isInPrompt).length);
  }

  /** Drops messages outside the session's window, unless another run may still use them. */
  trim(): void {
    const { window, state } = this.#session;
    if (window === undefined || this.#path.length <= window || state.runs.size > 0) return;
    const left = forgetBefore(state, this.#path, window, this.#hasSummary);
    if (!left) return;
    const forgotten = this.#path.length - left.length;
    const gone = this.#path.slice(0, forgotten);
    this.#path = left;
    if (this.#shown < forgotten || this.#hasSummary) return this.#rebuild();
    this.#prompt = this.#prompt.slice(gone.filter(isInPrompt).length);
    this.#shown -= forgotten;
  }

  /** Applies dismissals of recalled entries to messages that are already in the prompt. */
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

export function assistantMessage(session: Session, id: string): AssistantMessage {
  const message = session.state.messages.get(id);
  if (message?.role !== "assistant") throw new Error(`Message ${id} is not an answer of this conversation.`);
  return message;
}
