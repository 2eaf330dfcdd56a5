import { createId } from "@banyan/core";
import { ClientError } from "@banyan/protocol/client";
import { readCommand } from "../desk/read-command.ts";
import type { Following } from "./following.ts";

/** What a program says to a question: an answer as `question.answer` takes it, once it has been looked at. */
export interface GivenAnswer {
  readonly question: string;
  readonly answer?: unknown;
}

/**
 * What a program says to questions, those that are still open: `asking` is the message that the first of them stands at, and
 * `give` gives the answers. Who answers second is told what came of it; the first answer counts. Throws `ClientError` for
 * what is no answer.
 */
export function answersTo({ client, watched }: Following, answers: readonly GivenAnswer[]) {
  const { state, id: conversation } = watched;
  const open = answers.filter(({ question }) => state.questions.has(question));
  const asking = open
    .map(({ question }) => state.questions.get(question)?.message)
    .find((each) => typeof each === "string");
  const commands = open.map(({ question, answer }) => {
    const { command, error } = readCommand({ type: "question.answer", id: createId(), conversation, question, answer });
    if (error) throw new ClientError(error.code, error.message);
    return command as typeof command & { readonly type: "question.answer" };
  });
  const give = async () => {
    for (const { question, answer } of commands)
      await client.ask("question.answer", { conversation, question, answer }).catch((error: unknown) => {
        if (!(error instanceof ClientError && error.code === "not-found")) throw error;
      });
  };
  return { asking, give };
}
