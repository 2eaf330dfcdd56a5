import { formatDuration, subAgentsOf } from "@banyan/client/words";
import { pathTo } from "@banyan/core/conversation";
import { planHeadline, planOnPath, shownPlan, visibleLine } from "@banyan/core/shown";
import { type ReactNode, useEffect } from "react";
import { PageLink } from "../parts/browser/navigation.tsx";
import { ProcessTitle } from "../parts/conversation/process-title.tsx";
import { useConversation, useTree } from "../parts/conversation/use-conversation.ts";
import { useShow } from "../parts/conversation/use-view.ts";
import { Button } from "../parts/design/button.tsx";
import { usePage } from "../parts/page/page.ts";
import { useMay } from "../parts/page/use-may.ts";
import { formatPageTime, say, t } from "../parts/phrases/phrases.ts";
import { PLAN_LOOKS } from "../transcript/call-cards.tsx";
import { useCallStatus } from "../transcript/call-status.ts";
import { messageBeginning } from "./tree/words.ts";

// Panels for the agent's plan, its background commands and its sub-agents (W71).

export function Scrolled({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll this element.
    <section aria-label={name} tabIndex={0} className="flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto p-3 text-sm">
      {children}
    </section>
  );
}

/** Shows the agent's plan on a branch, from the last call with a plan (C5). */
export function PlanPanel({ leaf }: { readonly leaf: string | null }) {
  const conversation = useConversation();
  const tree = useTree();
  const path = tree ? pathTo(tree, leaf) : [];
  const unread = path.filter(({ id }) => conversation.outline(id) !== undefined).map(({ id }) => id);
  useEffect(() => conversation.read(unread), [conversation, unread]);
  const plan = planOnPath(path);
  if (!plan) {
    return <p className="p-3 text-sm">{unread.length > 0 ? t("Reading …") : t("No plan yet")}</p>;
  }
  return (
    <Scrolled name={t("Plan")}>
      <p className="text-soft text-xs">{planHeadline(plan, say)}</p>
      <ol className="flex flex-col gap-1">
        {shownPlan(plan).map(({ mark, text, status }, index) => (
          <li key={index} className={`flex gap-2 ${PLAN_LOOKS[status ?? "pending"]}`}>
            <span className="font-mono">{mark}</span>
            <span dir="auto">{text}</span>
          </li>
        ))}
      </ol>
    </Scrolled>
  );
}

export function BackgroundPanel() {
  const page = usePage();
  const may = useMay();
  const { id: conversation } = useConversation();
  const show = useShow();
  const all = [...(useTree()?.processes.values() ?? [])].toSorted((a, b) => b.startedAt - a.startedAt);
  if (all.length === 0) return <p className="p-3 text-sm">{t("Nothing is running in the background.")}</p>;
  return (
    <Scrolled name={t("In the background")}>
      <ul className="flex flex-col gap-2">
        {all.map(({ id, title, startedAt, outcome, message }) => (
          <li key={id} className="rounded-lg border border-hair px-3 py-2">
            <p className="flex items-baseline gap-2">
              <span className="text-soft text-xs">{id}</span>
              <code className="min-w-0 flex-1 break-all text-xs">
                <ProcessTitle title={title} />
              </code>
            </p>
            <p className="mt-1 text-soft text-xs">
              {t("Since {time}", { time: formatPageTime(startedAt, { dateStyle: "short", timeStyle: "short" }) })}
              {" · "}
              {outcome === undefined ? t("running") : visibleLine(outcome)}
            </p>
            <p className="mt-2 flex gap-1">
              <Button isSmall onClick={() => show(message, { focus: message })}>
                {t("Show in conversation")}
              </Button>
              {outcome === undefined && may("process.stop") && (
                <Button
                  isSmall
                  aria-label={t("Stop {id}", { id })}
                  onClick={() => page.told(page.connection.ask("process.stop", { conversation, process: id }))}
                >
                  {t("Stop")}
                </Button>
              )}
            </p>
          </li>
        ))}
      </ul>
    </Scrolled>
  );
}

/** Lists all sub-agents of the conversation in the order of their start, each with a link to it (W40). */
export function AgentsPanel() {
  const conversation = useConversation();
  const tree = useTree();
  const lookOf = useCallStatus();
  const all = tree ? subAgentsOf(tree) : [];
  if (!tree || all.length === 0) return <p className="p-3 text-sm">{t("No sub-agents yet.")}</p>;
  return (
    <Scrolled name={t("Sub-agents")}>
      <ol className="flex flex-col gap-2">
        {all.map(({ number, name, task, call }) => {
          const [sign, word, colour] = lookOf(call);
          const first = tree.children.get(call.id)?.[0];
          const { startedAt, endedAt } = call;
          return (
            <li key={call.id} className="rounded-lg border border-hair px-3 py-2">
              <p className="flex flex-wrap items-baseline gap-2">
                <span className="text-soft text-xs">{number}</span>
                {name !== undefined && <span className="font-medium">{visibleLine(name)}</span>}
                <span className={`text-xs ${colour}`}>
                  <span aria-hidden="true">{sign} </span>
                  {word}
                </span>
                {startedAt !== undefined && endedAt !== undefined && (
                  <span className="text-soft text-xs">{formatDuration(endedAt - startedAt)}</span>
                )}
              </p>
              {first !== undefined && (
                <p className="mt-1 flex items-baseline gap-2">
                  <span dir="auto" className="line-clamp-3 min-w-0 flex-1">
                    {visibleLine(task.split("\n", 1)[0] ?? "") || messageBeginning(conversation, tree, first)}
                  </span>
                  <PageLink
                    to={{ conversation: conversation.id, leaf: conversation.leafBelow(first) }}
                    end
                    className="min-h-6 text-leaf underline"
                  >
                    {t("Open")}
                  </PageLink>
                </p>
              )}
            </li>
          );
        })}
      </ol>
    </Scrolled>
  );
}
