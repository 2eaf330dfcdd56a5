import type { EventBody } from "../conversation/event.ts";
import type { AssistantMessage } from "../conversation/message.ts";
import type { ConversationState, LiveRun } from "../conversation/state.ts";
import { noUsage } from "../conversation/usage.ts";

/**
 * What to write about runs whose process is gone, so that nothing stays busy. Pure: evidence in, facts out.
 *
 * | the log says | then |
 * |---|---|
 * | an answer began, and nothing of it is there | it is abandoned |
 * | an answer began, and text of it is there | it is complete as far as it came, and marked as interrupted |
 * | a run started and did not end, its last answer is complete and asks for no call | it had answered |
 * | any other run started and did not end | it was interrupted |
 *
 * Calls without a result stay as they are: whoever goes on from them decides (`turn/calls.ts`). The usage of an answer
 * that broke off was never told, so it counts as none.
 */
export function recovery(state: ConversationState): EventBody[] {
  const events: EventBody[] = [];
  for (const run of state.runs.values()) {
    let { leaf } = run;
    const answer = leaf === null ? undefined : state.messages.get(leaf);
    if (answer?.role === "assistant" && answer.finish === undefined) {
      const ended = endOf(answer);
      events.push(ended);
      if (ended.type === "message.abandoned") leaf = answer.parentId;
    }
    events.push({ type: "run.ended", run: run.id, reason: hadAnswered(state, run) ? "answered" : "interrupted", leaf });
  }
  return events;
}

/** Runs whose process is gone and which had more to do. */
export function leftOpen(state: ConversationState): LiveRun[] {
  return [...state.runs.values()].filter((run) => !hadAnswered(state, run));
}

function hadAnswered(state: ConversationState, { leaf }: LiveRun): boolean {
  const answer = leaf === null ? undefined : state.messages.get(leaf);
  return answer?.role === "assistant" && answer.finish === "stop" && answer.calls.length === 0;
}

function endOf({ id, parts }: AssistantMessage): EventBody {
  const said = parts.filter((part) => part.type !== "call" && !("text" in part && part.text === ""));
  if (said.length === 0) {
    return { type: "message.abandoned", message: id, reason: "the process stopped before the first word" };
  }
  return { type: "message.completed", message: id, parts: said, finish: "interrupted", usage: noUsage, cost: 0 };
}
