import { type ConversationState, totalTokens } from "@banyan/core";
import type { RemoteServer } from "@banyan/server/client";
import { approvalWords } from "../chat/approval-mode.ts";
import type { Status } from "../terminal/full/views/status-line.ts";

/** What stands below the prompt while a person is in a conversation of a server, and sees a run of it, if one is live. */
export function remoteStatus(
  { settings }: RemoteServer["welcome"],
  { runs, model, usage, cost }: ConversationState,
  run: string | undefined,
): Status {
  return {
    mode: runs.get(run ?? "")?.mode ?? "chat",
    approval: approvalWords(settings.approval),
    model: model ?? settings.model,
    tokens: totalTokens(usage),
    cost,
  };
}
