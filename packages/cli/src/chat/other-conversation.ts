import type { ConversationSummary, Session } from "@banyan/core";
import type { Host } from "@banyan/host";
import { chooseConversation } from "../conversations/choose.ts";
import { idOf, openWithModel } from "../named-session.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Which conversation a person wants to go to, and from where. */
export interface OtherConversation {
  readonly host: Host;
  readonly terminal: Terminal;
  /** Its id or its title; without one, or where several may be meant, the person chooses. */
  readonly named: string | undefined;
  /** The id of the one that they are in. */
  readonly current: string | undefined;
  readonly signal: AbortSignal;
  notice(sentence: string): void;
}

/** Opens another conversation; nothing when none is chosen, or the one that the person is in. Rejects with `ConversationError` or `StoreError`. */
export async function otherConversation(wanted: OtherConversation): Promise<Session | undefined> {
  const { host, terminal, named, current, signal, notice } = wanted;
  const choose = (among?: readonly ConversationSummary[]) => chooseConversation({ host, terminal, among, signal });
  const id = named === undefined ? await choose() : await idOf(named, host, choose);
  if (id === undefined) return undefined;
  if (id !== current) return openWithModel(id, host, { notice });
  notice("This is that conversation.");
  return undefined;
}
