import type { ConversationState } from "@banyan/core";
import { totalTokens } from "@banyan/core/conversation";
import type { Client } from "@banyan/protocol/client";
import { approvalAt, approvalWords } from "../chat/approval-mode.ts";
import { branchOf } from "../chat/status-of.ts";
import type { Status } from "../terminal/full/views/status-line.ts";

/** Where a person stands in a conversation, and what works there. */
interface Standing {
  /** The run that they see, if one is live. */
  readonly run: string | undefined;
  readonly leaf: string | null;
  /** How the turns to come are taken. */
  readonly mode: "chat" | "task";
}

/** What stands below the prompt while a person is in a conversation of a server. */
export function remoteStatus(
  { settings }: Client["welcome"],
  state: ConversationState,
  { run, leaf, mode }: Standing,
): Status {
  const { runs, model, usage, cost } = state;
  return {
    mode: runs.get(run ?? "")?.mode ?? mode,
    approval: approvalWords(approvalAt(settings, state.id)),
    model: model ?? settings.model,
    tokens: totalTokens(usage),
    cost,
    ...branchOf(state, leaf),
  };
}
