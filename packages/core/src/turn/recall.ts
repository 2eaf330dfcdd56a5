import { type Recalled, textOf } from "../conversation/message.ts";
import type { Memory } from "../ports/memory.ts";
import { messageOf } from "./execute.ts";
import type { TurnAgent, TurnRun } from "./run.ts";

type TurnMemory = NonNullable<TurnAgent["memory"]>;

/** What is being written to a memory: a recall waits for it, so that a turn knows of the turn before. */
const writing = new WeakMap<Memory, Promise<void>>();

/** Puts what memory knows in front of the model, together with the user message that stands last on the path. */
export async function recallInto(run: TurnRun, memory: TurnMemory): Promise<void> {
  const { session, branch, origin } = run;
  const message = branch.path.at(-1);
  if (message?.role !== "user") return;
  const signal = AbortSignal.any([run.signal, AbortSignal.timeout(memory.timeout)]);
  let items: readonly Recalled[];
  try {
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    await Promise.race([writing.get(memory.store), aborted]);
    items = await Promise.race([memory.store.recall(textOf(message), { limit: memory.limit, signal }), aborted]);
  } catch (error) {
    // A turn without memory is better than no turn; the feed says so.
    session.notify({ type: "memory.skipped", run: run.id, reason: messageOf(error) }, origin);
    return;
  }
  if (items.length > 0) await session.commit([{ type: "memory.recalled", message: message.id, items }], { origin });
}

/** Hands what was said in a turn to memory, in the background: the next turn does not wait for it. */
export function rememberTurn(run: TurnRun, memory: TurnMemory): void {
  const { session, branch } = run;
  const from = branch.path.findLastIndex((message) => message.role === "user" && message.author === "user");
  const items = branch.path.slice(Math.max(0, from)).flatMap((message) => {
    const text = textOf(message);
    return text === "" ? [] : [{ text, conversation: session.id, at: message.createdAt }];
  });
  if (items.length === 0) return;
  const before = writing.get(memory.store) ?? Promise.resolve();
  const written = before
    .then(() => memory.store.remember(items))
    .catch((error: unknown) => {
      session.notify({ type: "memory.skipped", run: run.id, reason: messageOf(error) }, run.origin);
    });
  writing.set(memory.store, written);
}
