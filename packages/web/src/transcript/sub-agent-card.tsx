import { shortCount } from "@banyan/client/words";
import {
  type AssistantMessage,
  type Call,
  lastAssistantMessage,
  type Message,
  newestLeaf,
  pathTo,
  textOf,
  toolNameOf,
  usageOnPath,
} from "@banyan/core/conversation";
import { cutTo, formatCost, visibleLine } from "@banyan/core/shown";
import { PageLink } from "../parts/browser/navigation.tsx";
import { openRuns } from "../parts/conversation/live-conversation.ts";
import { useConversation, useMessage, useTree } from "../parts/conversation/use-conversation.ts";
import { useMay } from "../parts/page/use-may.ts";
import { say, t, waitingInWords } from "../parts/phrases/phrases.ts";
import { type StatusLook, useCallStatus } from "./call-status.ts";

const ACTIONS = 3;

const NAME = 60;

/** Shows a sub-agent in its parent's conversation: its current work, its cost, and a link to it (W40). */
export function SubAgentCard({
  call,
  root,
  task,
  status,
}: {
  readonly call: string;
  readonly root: string;
  readonly task: string;
  readonly status: string;
}) {
  const conversation = useConversation();
  const tree = useTree();
  const may = useMay();
  const lookOf = useCallStatus();
  const leaf = tree ? newestLeaf(tree, root) : root;
  // Renders again whenever the last message grows.
  useMessage(leaf);
  if (!tree) return null;
  const path = pathTo(tree, leaf);
  const run = openRuns(tree).find((live) => live.call === call);
  const { usage, cost } = usageOnPath(path);
  const waiting = [...tree.questions.values()].filter(
    ({ message }) => tree.messages.get(message ?? "")?.call === call,
  ).length;
  return (
    <section
      aria-label={t("Sub-agent: {words}", { words: cutTo(task, NAME) })}
      className="border-hair border-t px-3 py-2"
    >
      <p className="flex flex-wrap items-baseline gap-2">
        <span className={run ? "text-leaf" : "text-soft"}>
          {run ? `● ${t("{agent} is working", { agent: run.agent })}` : t("Sub-agent: {words}", { words: status })}
        </span>
        {waiting > 0 && <span className="text-warn">{waitingInWords(waiting, may("question.answer"))}</span>}
        <PageLink to={{ conversation: conversation.id, leaf }} end className="ms-auto min-h-6 text-leaf underline">
          {t("Open")}
        </PageLink>
      </p>
      <p className="text-soft text-xs">
        {lastAssistantMessage(path)?.model} · {t("{tokens} tokens", { tokens: shortCount(usage.input + usage.output) })}{" "}
        · {formatCost(cost, say)}
      </p>
      <ul className="mt-1 border-hair border-s-2 ps-2 text-xs">
        {lastActions(path, lookOf).map(({ id, words }) => (
          <li key={id} className="truncate">
            {words}
          </li>
        ))}
      </ul>
    </section>
  );
}

function lastActions(
  path: readonly Message[],
  lookOf: (call: Call) => StatusLook,
): { readonly id: string; readonly words: string }[] {
  const answers = path.filter((message): message is AssistantMessage => message.role === "assistant");
  const actions = answers.flatMap((answer) => [
    ...(textOf(answer) === "" ? [] : [{ id: answer.id, words: textOf(answer).replace(/\s+/g, " ") }]),
    ...answer.calls.map((call) => ({ id: call.id, words: `${visibleLine(toolNameOf(call))}: ${lookOf(call)[1]}` })),
  ]);
  return actions.slice(-ACTIONS);
}
