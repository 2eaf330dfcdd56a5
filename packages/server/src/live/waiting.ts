import type { ConversationState } from "@banyan/core";
import type { Result } from "@banyan/protocol";

type Waiting = Result<"question.list">["waiting"][number];

/** How much waits for a person: questions of calls, and of runs at a limit. */
export function countWaiting(state: ConversationState): number {
  return state.questions.size + countAtLimit(state);
}

/** How many runs wait at a limit. */
export function countAtLimit({ runs }: ConversationState): number {
  return runs
    .values()
    .filter(({ pausedBy }) => pausedBy !== undefined)
    .toArray().length;
}

/** The questions of a conversation's calls, in the order in which they came. */
export function waitingIn({ id, labels, messages, questions }: ConversationState): Waiting[] {
  return questions
    .values()
    .flatMap((question) => {
      const message = messages.get(question.message);
      const call =
        message?.role === "assistant" ? message.calls.find((asking) => asking.id === question.call) : undefined;
      if (!message || !call) return [];
      const directory = labels.cwd === undefined ? {} : { directory: labels.cwd };
      return [{ conversation: id, question, call, ofSubAgent: message.call !== undefined, ...directory }];
    })
    .toArray();
}
