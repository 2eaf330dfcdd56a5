import type { EventBody } from "../conversation/event.ts";
import { isEnded } from "../conversation/message.ts";
import type { ConversationState, LiveRun } from "../conversation/state.ts";
import { latestRun } from "../conversation/tree/asking-run.ts";
import { callFields } from "../conversation/tree/call-state.ts";
import { unsettledBelow } from "../conversation/tree/path.ts";

const INTERRUPTED = "Not executed: interrupted by the user.";

/** Returns the events for a user who stops a turn that waits although its process has ended. */
export function endOfWaiting(state: ConversationState, turn: LiveRun): EventBody[] {
  const runs = [turn, ...waitingBelow(state, turn)].reverse();
  const ids = new Set(runs.map(({ id }) => id));
  const calls = [...state.messages.values()].flatMap((message) =>
    message.role === "assistant" && ids.has(latestRun(state, message.run))
      ? message.calls.filter(({ status }) => !isEnded(status)).map((call) => ({ call, message: message.id }))
      : [],
  );
  return [
    ...calls.map(
      ({ call, message }): EventBody => ({ type: "call.cancelled", ...callFields(message, call), output: INTERRUPTED }),
    ),
    ...runs.map(({ id, leaf }): EventBody => ({ type: "run.ended", run: id, reason: "interrupted", leaf })),
  ];
}

function waitingBelow(state: ConversationState, { id }: LiveRun): LiveRun[] {
  const { waiting, messages, calls } = state;
  const found: LiveRun[] = [];
  const above = new Set([id]);
  for (let more = true; more; ) {
    more = false;
    for (const run of waiting.values()) {
      const asking = run.call === undefined || above.has(run.id) ? undefined : messages.get(calls.get(run.call) ?? "");
      if (asking?.role !== "assistant" || !above.has(latestRun(state, asking.run))) continue;
      above.add(run.id);
      found.push(run);
      more = true;
    }
  }
  return found;
}

const GONE = "The process stopped before this call had a result. The call was not continued.";

/** Cancels the open calls in the sub-agents of a call that already has its result. */
export function endBelow(
  session: { readonly state: ConversationState; readonly runs: { isLive(run: string): boolean } },
  call: string,
): EventBody[] {
  const { state } = session;
  return (state.children.has(call) ? unsettledBelow(state, call) : [])
    .filter(({ run }) => !session.runs.isLive(latestRun(state, run)))
    .flatMap(({ id: message, calls }) =>
      calls
        .filter(({ status }) => !isEnded(status))
        .map((open) => ({ type: "call.cancelled", ...callFields(message, open), output: GONE }) as const),
    );
}
