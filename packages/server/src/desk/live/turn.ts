import type { Agent, Chat, Directive, Session } from "@banyan/core";
import { TurnNotBegun } from "./beginnings.ts";

/** Where a turn begins, and the id of what it adds. */
export interface TurnPlace {
  readonly at?: string | undefined;
  readonly id: string;
  /** What tools are told that it was begun with. */
  readonly client: string;
}

/**
 * Lets an agent work, with the same driver as the library and the terminal (B12), whether somebody looks or not (B64).
 * Resolves when the turn has begun and is in the log, rejects when it cannot begin. What goes wrong later ends its run in
 * the log; `onDefect` hears of what cannot even be written there.
 */
export function beginTurn(
  agent: Agent,
  directive: Directive,
  session: Session,
  { at, id, client }: TurnPlace,
  onDefect: (error: unknown) => void,
): Promise<void> {
  const begun = Promise.withResolvers<void>();
  const chat = agent.chat(directive, { session, id, client, ...(at === undefined ? {} : { at }) });
  let isBegun = false;
  const onBegun = () => {
    isBegun = true;
    begun.resolve();
  };
  follow(chat, onBegun).then(
    () => begun.reject(new TurnNotBegun()),
    // Whoever asked for it is told why it cannot begin.
    (error: unknown) => (isBegun ? onDefect(error) : begun.reject(error)),
  );
  return begun.promise;
}

async function follow(chat: Chat, onBegun: () => void): Promise<void> {
  for await (const item of chat) if (item.type === "run.started") onBegun();
}
