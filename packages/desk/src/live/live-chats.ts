import type { Session } from "@banyan/core";
import { standingLeaf } from "@banyan/core/conversation";
import { orAborted } from "@banyan/core/hosts";
import { asAtWork } from "../request/problem.ts";
import type { TurnBeginning } from "./beginnings.ts";
import { type AskedTurn, LiveChat } from "./live-chat.ts";

/** Maximum number of a desk's waiting chats. If one more waits, the chat that has waited longest ends. */
const MOST_WAITING = 256;

/**
 * The chats of a desk, one for each active branch. A message at the end of the branch of a waiting chat continues this
 * chat.
 */
export class LiveChats {
  readonly #defect: (error: unknown) => void;
  readonly #live = new Map<Session, Set<LiveChat>>();
  /** The waiting chats, in the order in which they began to wait. */
  readonly #waiting = new Set<LiveChat>();
  /** Present while a message is being handed to a waiting chat. */
  #handing: Promise<void> | undefined;

  /** `defect` receives errors of work that no client requested. */
  constructor(defect: (error: unknown) => void) {
    this.#defect = defect;
  }

  of(session: Session): readonly LiveChat[] {
    return [...(this.#live.get(session) ?? [])];
  }

  /** Resolves when the turn is in the log. Rejects with `TurnNotBegun`, or `AtWorkError` while another turn works. */
  async begin(session: Session, asked: AskedTurn, beginning: TurnBeginning): Promise<void> {
    try {
      await this.#begin(session, asked, beginning);
    } catch (error) {
      throw asAtWork(error);
    }
  }

  async #begin(session: Session, asked: AskedTurn, beginning: TurnBeginning): Promise<void> {
    for (let wait = this.#unsettled(session); wait; wait = this.#unsettled(session))
      await orAborted(wait, beginning.interruption);
    // No `await` may come between the last check and `goOn`, or the new chat.
    const chat = this.#chatAt(session, asked.at);
    if (!chat) {
      // The session reserves the branch before this call returns.
      beginning.begins();
      await this.#newChat(session, asked).begun;
      return;
    }
    beginning.interruption.throwIfAborted();
    this.#waiting.delete(chat);
    const begun = chat.goOn(asked);
    // Of two clients that send at the same moment, the second must not start its own chat before the first has the
    // branch, which the trampoline requests in the next microtask.
    this.#handing = Promise.resolve();
    await this.#handing;
    this.#handing = undefined;
    const isInterrupted = beginning.interruption.aborted;
    if (!isInterrupted) beginning.begins();
    const run = await begun;
    if (isInterrupted) session.interrupt(run);
  }

  /** Resolves when every ended turn of the conversation has continued or waits for the user. */
  async settled(session: Session): Promise<void> {
    const next = () => this.of(session).find(({ isSettled }) => !isSettled);
    for (let chat = next(); chat; chat = next()) await chat.moved;
  }

  /** Resolves when a chat that is about to wait, or to receive a message, may have done so. */
  #unsettled(session: Session): Promise<void> | undefined {
    // A client may see `run.ended` and send a message before the turn handler runs.
    return this.#handing ?? this.of(session).find(({ isEnding }) => isEnding)?.moved;
  }

  /** The chat that waits at a message or the nearest above: the branch may have grown, for example by a summary. */
  #chatAt({ id, state }: Session, at = standingLeaf(state, state.leaf)): LiveChat | undefined {
    if (at !== null && !state.messages.has(at)) return undefined;
    const ends = new Map<string | null, LiveChat>();
    for (const chat of this.#waiting)
      if (chat.session.id === id && chat.leaf !== undefined) ends.set(standingLeaf(state, chat.leaf), chat);
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
