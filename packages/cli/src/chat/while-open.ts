import type { ConversationState, Session } from "@banyan/core";

/** A signal that aborts as soon as a question is open no more, whoever answered it. */
export function whileOpen(
  session: Pick<Session, "listen" | "state">,
  question: string,
): Disposable & { readonly signal: AbortSignal } {
  const closed = new AbortController();
  const stop = session.listen({
    items() {
      if (!isOpen(session.state, question)) closed.abort();
    },
    // A feed that breaks off ends the question too.
    ended: () => closed.abort(),
  });
  return { signal: closed.signal, [Symbol.dispose]: stop };
}

/** Whether a question waits for an answer. */
export function isOpen({ questions }: ConversationState, question: string): boolean {
  return questions.has(question);
}
