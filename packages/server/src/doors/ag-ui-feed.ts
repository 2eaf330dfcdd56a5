import { setTimeout } from "node:timers/promises";
import { topRun } from "@banyan/client/display";
import type { FeedItem } from "@banyan/core";
import type { ConversationState } from "@banyan/core/conversation";
import { refuseUnknown } from "@banyan/core/conversation";
import type { AgUiEvent } from "./ag-ui-event.ts";
import { isOf, messageOf } from "./ag-ui-tree.ts";
import { type AgUiRun, AgUiTurn } from "./ag-ui-turn.ts";
import { QUIET } from "./following.ts";

/**
 * How the events of a turn are told for a server of your own.
 * @example
 * agUiEvents(session.feed(), { threadId: session.id, runId: createId() }, { session, goesOn: true });
 */
export interface AgUiOptions {
  /** The session of the feed: its outline is told, and what is taken back can be. */
  readonly session?: { readonly state: ConversationState };
  /** A turn works already: what it has said since the message of it that the run has is told first. */
  readonly goesOn?: boolean;
}

/**
 * Tells a turn as the events of an AG-UI run, for a server of your own: the first that begins in this feed, or the one that
 * works. They end with the turn; and when it waits for a person, with an interrupt, after which the turn waits on: give it
 * `session.feed()`, since leaving a chat interrupts it. Throws what the feed throws.
 * @example
 * const events = agUiEvents(session.feed(), { threadId: session.id, runId: createId() }, { session });
 * agent.send("What is a banyan?", { session }).catch(() => {}); // The events tell it.
 * for await (const event of events) process.stdout.write(`data: ${JSON.stringify(event)}\n\n`);
 */
export function agUiEvents(
  feed: AsyncIterable<FeedItem>,
  run: AgUiRun,
  options: AgUiOptions = {},
): AsyncGenerator<AgUiEvent> {
  refuseUnknown("agUiEvents", options, { session: true, goesOn: true });
  const { session, goesOn = false } = options;
  const turn = new AgUiTurn(run, session && (() => session.state));
  const live = goesOn && session ? topRun(session.state) : undefined;
  // From now on, and not only once somebody reads: what is answered or said next is told.
  const begins =
    session && live !== undefined ? turn.takeUp(session.state, live, lastKnown(session.state, run, live)) : [];
  const items = feed[Symbol.asyncIterator]();
  const first = items.next();
  first.catch(() => {}); // Whoever reads the events is told.
  return eventsOf(turn, begins, items, first);
}

async function* eventsOf(
  turn: AgUiTurn,
  begins: readonly AgUiEvent[],
  items: AsyncIterator<FeedItem>,
  first: Promise<IteratorResult<FeedItem>>,
): AsyncGenerator<AgUiEvent> {
  try {
    yield* begins;
    for (let next = first; !turn.read.isOver; next = items.next()) {
      // All that is asked at once is asked.
      const waits = turn.read.questions.length > 0;
      const came = await (waits ? Promise.race([next, setTimeout(QUIET, "quiet" as const)]) : next);
      if (came === "quiet") return yield* turn.pause();
      // The session was closed while a user is asked: the turn waits.
      if (came.done) return yield* waits ? turn.pause() : [];
      yield* turn.take(came.value);
    }
  } finally {
    await items.return?.();
  }
}

/** The last message of a run that whoever asks for it has. */
function lastKnown(state: ConversationState, { messages = [] }: AgUiRun, run: string): string | undefined {
  const known = messages.findLast(({ id }) => isOf(state, id, run));
  return known && messageOf(state, known.id);
}
