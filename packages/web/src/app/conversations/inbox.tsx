import { Suspense, useEffect } from "react";
import { lazily } from "../../parts/browser/lazily.ts";
import { PageLink } from "../../parts/browser/navigation.tsx";
import { Disclosure } from "../../parts/design/disclosure.tsx";
import { usePageState, waitingInAll } from "../../parts/page/page.ts";
import { useServerAnswer } from "../../parts/page/use-server-answer.ts";
import { t, waitingInWords } from "../../parts/phrases/phrases.ts";

const Approval = lazily(async () => ({ default: (await import("../../transcript/approval.tsx")).QuestionView }));

/** Lists the questions to the user of all conversations and sub-agents, and lets the user answer them (W34). */
export function Inbox() {
  const count = usePageState(waitingInAll);
  const waits = count > 0;
  useEffect(() => {
    // Preloads the card, so that it appears with the list; a failed load is tried again then.
    if (waits) Approval.ahead().catch(() => {});
  }, [waits]);
  if (count === 0) return null;
  return (
    <Disclosure
      label={
        <>
          <span className="max-sm:hidden">{waitingInWords(count, true)}</span>
          <span className="sm:hidden">{waitingInWords(count, false)}</span>
        </>
      }
      name={waitingInWords(count, true)}
      isUrgent
    >
      <List />
    </Disclosure>
  );
}

function List() {
  // Any change in the list of conversations may be a new question.
  const conversations = usePageState((state) => state.conversations);
  const { answer } = useServerAnswer("question.list", conversations && {}, conversations);
  const titleOf = (id: string) => conversations?.find((listed) => listed.id === id)?.title || t("New conversation");
  return (
    <ul aria-label={t("Waiting for you")} className="flex flex-col gap-3">
      {answer?.waiting.map(({ ofSubAgent, call, directory: _, ...waiting }) => (
        <li key={waiting.question.id} className="overflow-hidden rounded-md border border-hair">
          <p className="flex items-baseline justify-between gap-2 px-3 py-1 text-soft text-xs">
            <span className="min-w-0 truncate">
              {ofSubAgent && `${t("In a sub-agent")} · `}
              <span className="text-ink">{titleOf(waiting.conversation)}</span>
            </span>
            <PageLink
              to={{ conversation: waiting.conversation, leaf: waiting.question.message ?? undefined }}
              end
              focus={waiting.question.message ?? undefined}
              className="shrink-0 text-leaf underline"
            >
              {t("Show in conversation")}
            </PageLink>
          </p>
          <Suspense fallback={null}>
            <Approval {...waiting} call={call} />
          </Suspense>
        </li>
      ))}
    </ul>
  );
}
