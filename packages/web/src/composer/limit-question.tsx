import type { LiveRun } from "@banyan/core/conversation";
import { useConversation } from "../conversation/use-conversation.ts";
import { usePage } from "../page.ts";
import { Action } from "./action.tsx";

/** Where a turn has reached a limit of what it may take: whether it may have as much again (B64). */
export function LimitQuestion({
  run,
  told,
}: {
  readonly run: LiveRun | undefined;
  /** Tells the person what comes of it, if it fails. */
  told(answered: Promise<unknown>): void;
}) {
  const { connection } = usePage();
  const { id: conversation } = useConversation();
  if (run?.pausedBy === undefined) return null;
  const question = run.pausedBy;
  const answer = (decision: "allow" | "deny") =>
    told(connection.ask("question.answer", { conversation, question, answer: { decision } }));
  return (
    <p className="flex flex-wrap items-center gap-2 text-sm text-warn">
      This turn has reached a limit. {run.pauseReason} May it go on, with as much again?
      <Action onClick={() => answer("allow")}>Go on</Action>
      <Action onClick={() => answer("deny")}>End it here</Action>
    </p>
  );
}
