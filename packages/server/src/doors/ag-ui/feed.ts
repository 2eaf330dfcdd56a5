import { setTimeout } from "node:timers/promises";
import { newestTurn } from "@banyan/client/display";
import type { FeedItem } from "@banyan/core";
import type { ConversationState } from "@banyan/core/conversation";
import { refuseUnknown } from "@banyan/core/conversation";
import { QUIET } from "../turn-stream.ts";
import type { AgUiEvent } from "./event.ts";
import { isOfRun, ownMessageId } from "./tree.ts";
import { type AgUiRun, AgUiTurn } from "./turn.ts";

/**
 * Options of `agUiEvents`.
 * @example
 * agUiEvents(session.feed(), { threadId: session.id, runId: createId() }, { session, continues: true });
 */
export interface AgUiOptions {
  /** The session of the feed. Its outline is sent as state, and removed messages are reported. */
  readonly session?: { readonly state: ConversationState };
  /** True if the events begin inside a running turn: after the last message of the turn that the program has. */
  readonly continues?: boolean;
}

/**
 * Converts a turn to the events of an AG-UI run, for a server of your own: the next turn of the feed, or the running
 * turn. The events end with the turn, or with an interrupt if the turn waits for a user. The turn then continues to
 * wait. Pass `session.feed()` and not a chat, because leaving a chat interrupts its turn. Throws the errors of the
 * feed.
 * @example
 * const events = agUiEvents(session.feed(), { threadId: session.id, runId: createId() }, { session });
 * agent.send("What is a banyan?", { session }).catch(() => {}); // The events report errors.
 * for await (const event of events) process.stdout.write(`data: ${JSON.stringify(event)}\n\n`);
 */
export function agUiEvents(
  feed: AsyncIterable<FeedItem>,
  run: AgUiRun,
  options: AgUiOptions = {},
): AsyncGenerator<AgUiEvent> {
  refuseUnknown("agUiEvents", options, { session: true, continues: true });
  const { session, continues = false } = options;
  const turn = new AgUiTurn(run, session && (() => session.state));
  const live = continues && session ? newestTurn(session.state) : undefined;
  // Read at once, and not only with the first reader: later answers and messages must be among the events.
  const begins =
    session && live !== undefined ? turn.takeUp(session.state, live, lastKnown(session.state, run, live)) : [];
  const items = feed[Symbol.asyncIterator]();
  const first = items.next();
  first.catch(() => {}); // The reader of the events gets the error.
  return turnEvents(turn, begins, items, first);
}

async function* turnEvents(
  turn: AgUiTurn,
  begins: readonly AgUiEvent[],
  items: AsyncIterator<FeedItem>,
  first: Promise<IteratorResult<FeedItem>>,
): AsyncGenerator<AgUiEvent> {
  try {
    yield* begins;
    for (let next = first; !turn.read.isOver; next = items.next()) {
      // A short pause collects questions that arise at the same time.
      const waits = turn.read.questions.length > 0;
      const came = await (waits ? Promise.race([next, setTimeout(QUIET, "quiet" as const)]) : next);
      if (came === "quiet") return yield* turn.pause();
      // The session closed while a user is asked: the turn waits.
      if (came.done) return yield* waits ? turn.pause() : [];
      yield* turn.take(came.value);
    }
  } finally {
    await items.return?.();
  }
}

/** The last message of the run that the program already has. */
function lastKnown(state: ConversationState, { messages = [] }: AgUiRun, run: string): string | undefined {
  const known = messages.findLast(({ id }) => isOfRun(state, id, run));
  return known && ownMessageId(state, known.id);
}
