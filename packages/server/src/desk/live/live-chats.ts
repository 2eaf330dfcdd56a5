import type { Session } from "@banyan/core";
import { standing } from "@banyan/core/conversation";
import { orAborted } from "@banyan/core/hosts";
import { asAtWork } from "../problem.ts";
import type { Beginning } from "./beginnings.ts";
import { type AskedTurn, LiveChat } from "./live-chat.ts";

/** Chats of a desk that wait for a person. Of more, the one that has waited longest ends. */
const MOST_WAITING = 256;

/**
 * The chats of a desk, one for each branch that somebody talks on: what is said where one of them waits is its next turn,
 * what is said elsewhere begins another one. They end with their conversation.
 */
export class LiveChats {
  readonly #defect: (error: unknown) => void;
  readonly #live = new Map<Session, Set<LiveChat>>();
  /** The one that has waited longest first. */
  readonly #waiting = new Set<LiveChat>();
  /** While what was said is on its way into the chat that waited for it. */
  #handing: Promise<void> | undefined;

  /** `defect` hears of what went wrong and no client asked for. */
  constructor(defect: (error: unknown) => void) {
    this.#defect = defect;
  }

  /** Those of a conversation. */
  of(session: Session): readonly LiveChat[] {
    return [...(this.#live.get(session) ?? [])];
  }

  /**
   * Begins a turn. Resolves when it has begun and is in the log; rejects with `TurnNotBegun` when it was interrupted before,
   * with `AtWork` while another turn works at its place, and with whatever else keeps it from beginning.
   */
  async begin(session: Session, asked: AskedTurn, beginning: Beginning): Promise<void> {
    try {
      await this.#begin(session, asked, beginning);
    } catch (error) {
      throw asAtWork(error);
    }
  }

  async #begin(session: Session, asked: AskedTurn, beginning: Beginning): Promise<void> {
    for (let wait = this.#unsettled(session); wait; wait = this.#unsettled(session))
      await orAborted(wait, beginning.interruption);
    // From that last look to `goOn`, or to the new chat, nothing is awaited.
    const chat = this.#chatAt(session, asked.at);
    if (!chat) {
      // The branch is asked for before this returns.
      beginning.begins();
      await this.#newChat(session, asked).begun;
      return;
    }
    beginning.interruption.throwIfAborted();
    this.#waiting.delete(chat);
    const begun = chat.goOn(asked);
    // Two clients say something at the same moment: whoever comes second must not begin a chat of their own before the first
    // one has the branch, which the trampoline asks for in the next microtask.
    this.#handing = Promise.resolve();
    await this.#handing;
    this.#handing = undefined;
    const isInterrupted = beginning.interruption.aborted;
    if (!isInterrupted) beginning.begins();
    const run = await begun;
    if (isInterrupted) session.interrupt(run);
  }

  /** Resolves when no turn of a conversation has ended of which it is not known whether another one follows by itself. */
  async settled(session: Session): Promise<void> {
    const next = () => this.of(session).find(({ isSettled }) => !isSettled);
    for (let chat = next(); chat; chat = next()) await chat.moved;
  }

  /** Resolves when something that is on its way to waiting, or into a chat that waited, may have come there. */
  #unsettled(session: Session): Promise<void> | undefined {
    // A client that saw `run.ended` may say something before the turn handler is asked.
    return this.#handing ?? this.of(session).find(({ isEnding }) => isEnding)?.moved;
  }

  /** The chat that waits at a message, or nearest above it: its branch has grown since, by a summary, say. */
  #chatAt({ id, state }: Session, at = standing(state, state.leaf)): LiveChat | undefined {
    if (at !== null && !state.messages.has(at)) return undefined;
    const ends = new Map<string | null, LiveChat>();
    for (const chat of this.#waiting)
      if (chat.session.id === id && chat.leaf !== undefined) ends.set(standing(state, chat.leaf), chat);
    if (ends.size === 0) return undefined;
    for (let place: string | null = at; ; place = state.messages.get(place)?.parentId ?? null) {
      const chat = ends.get(place);
      if (chat || place === null) return chat;
    }
  }

  #newChat(session: Session, asked: AskedTurn): LiveChat {
    const chats = this.#live.get(session) ?? new Set();
    this.#live.set(session, chats);
    const chat: LiveChat = new LiveChat(session, asked, {
      waits: () => this.#waits(chat),
      over: () => {
        this.#waiting.delete(chat);
        chats.delete(chat);
        if (chats.size === 0) this.#live.delete(session);
      },
      defect: this.#defect,
    });
    chats.add(chat);
    return chat;
  }

  #waits(chat: LiveChat): void {
    this.#waiting.add(chat);
    const [longest] = this.#waiting;
    if (this.#waiting.size <= MOST_WAITING || !longest) return;
    this.#waiting.delete(longest);
    longest.end();
  }
}
