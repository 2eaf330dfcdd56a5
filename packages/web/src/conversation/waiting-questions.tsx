import type { OpenQuestion } from "@banyan/core/conversation";
import { Disclosure } from "../shell/disclosure.tsx";
import { Approval } from "../transcript/approval.tsx";
import { useMessage, useTree } from "./use-conversation.ts";
import { useShow } from "./use-view.ts";

/** Everything in the conversation that waits for the person, on all branches and in sub-agents; answered here or there (W34). */
export function WaitingQuestions() {
  const tree = useTree();
  const questions = [...(tree?.questions.values() ?? [])];
  if (questions.length === 0) return null;
  return (
    <Disclosure label={`${questions.length} waiting for you`} isUrgent>
      <ul aria-label="Waiting for you" className="flex flex-col gap-3">
        {questions.map((question) => (
          <li key={question.id}>
            <Waiting question={question} />
          </li>
        ))}
      </ul>
    </Disclosure>
  );
}

function Waiting({ question }: { readonly question: OpenQuestion }) {
  const show = useShow();
  const { message } = useMessage(question.message);
  const call = message?.role === "assistant" ? message.calls.find(({ id }) => id === question.call) : undefined;
  if (!call) return <p className="text-soft">…</p>;
  return (
    <>
      <p className="flex justify-between gap-2 text-soft text-xs">
        {message?.call === undefined ? "In the conversation" : "In a sub-agent"}
        <button
          type="button"
          onClick={() => show(question.message, { focus: question.message })}
          className="min-h-6 text-leaf underline"
        >
          Show where
        </button>
      </p>
      <Approval question={question} call={call} />
    </>
  );
}
