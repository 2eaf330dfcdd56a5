import type { Store } from "@banyan/core";
import type { LiveChats, LiveConversations, Performer } from "@banyan/desk/serving";
import type { SharedDatabase } from "@banyan/store/postgres";
import type { Driver } from "./driver.ts";

/** What happens to a run whose node died. `resume`: another node continues the run. `leave`: the user decides. */
export type RedrivePolicy = "resume" | "leave";

/** Options of a server in a cluster. */
export interface ClusterOptions {
  readonly shared: SharedDatabase;
  readonly store: Pick<Store, "view">;
  readonly driver: Driver;
  readonly redrive: RedrivePolicy;
  /** The tokens. All servers have the same tokens. */
  readonly tokens: { readonly owner: string; readonly guest: string | undefined };
  /** Called with errors of work that no client requested. */
  defect(error: unknown): void;
  /** Called with sentences about faults that the operator can fix. */
  log(sentence: string): void;
}

/** The functions of this node's desk (the part that executes commands) that the cluster uses. */
export interface ClusterDesk {
  readonly conversations: LiveConversations;
  readonly performer: Performer;
  readonly chats: LiveChats;
  /** Marks a conversation as changed in the list; without an argument, all conversations. */
  changed(conversation?: string): void;
}
