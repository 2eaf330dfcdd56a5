import type { EventBody } from "../conversation/event.ts";
import { isEnded } from "../conversation/message.ts";
import type { ConversationState, LiveRun } from "../conversation/state.ts";
import { latestRun } from "../conversation/tree/asking.ts";
import { sayingCall } from "../conversation/tree/call-state.ts";
import { unsettledBelow } from "../conversation/tree/path.ts";

/** What the model is told of a call about which a user was asked when the turn was interrupted. */
const INTERRUPTED = "Not executed: interrupted by the user.";

/** The facts with which a user ends a turn that waits for an answer and that no process works on. */
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
      ({ call, message }): EventBody => ({ type: "call.cancelled", ...sayingCall(message, call), output: INTERRUPTED }),
    ),
    ...runs.map(({ id, leaf }): EventBody => ({ type: "run.ended", run: id, reason: "interrupted", leaf })),
  ];
}

/** The waiting runs that calls of a run launched, and those below them, the nearest first. */
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

const GONE = "The process stopped before this had a result, and nobody goes on with it.";

/** Below a call that has its result nothing is open: a sub-agent whose process is gone is not gone on with any more. */
export function endBelow(
  session: { readonly state: ConversationState; isLive(run: string): boolean },
  call: string,
): EventBody[] {
  const { state } = session;
  return unsettledBelow(state, call)
    .filter(({ run }) => !session.isLive(latestRun(state, run)))
    .flatMap(({ id: message, calls }) =>
      calls
        .filter(({ status }) => !isEnded(status))
        .map((open) => ({ type: "call.cancelled", ...sayingCall(message, open), output: GONE }) as const),
    );
}
