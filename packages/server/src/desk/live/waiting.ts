import type { ConversationState } from "@banyan/core";
import type { Result } from "@banyan/protocol";

type Waiting = Result<"question.list">["waiting"][number];

/** What waits for a person in a conversation, in the order in which it came. */
export function waitingIn({ id, labels, messages, questions }: ConversationState): Waiting[] {
  const directory = labels.cwd === undefined ? {} : { directory: labels.cwd };
  return questions
    .values()
    .map((question) => {
      const message = messages.get(question.message ?? "");
      const call =
        question.type !== "limit" && message?.role === "assistant"
          ? message.calls.find((asking) => asking.id === question.call)
          : undefined;
      const ofSubAgent = message?.call !== undefined;
      return { conversation: id, question, ...(call && { call }), ofSubAgent, ...directory };
    })
    .toArray();
}
