import { errorMessage } from "../conversation/error-message.ts";
import { type Message, type RecalledMemory, textOf } from "../conversation/message.ts";
import { citedIn, withoutCitations } from "../conversation/shown/enclosed-text.ts";
import { alarm, orAborted } from "../model/alarm.ts";
import type { Memory, MemoryItem } from "../ports/memory.ts";
import type { TurnAgent, TurnRun } from "../run/run.ts";

type TurnMemory = NonNullable<TurnAgent["memory"]>;

/** Milliseconds after which a running write to memory is abandoned. */
const WRITING_TIME = 60_000;

/** Running writes by memory. A recall waits for them, so that a turn knows the turn before. */
const writing = new WeakMap<Memory, Promise<void>>();

/** Recalls entries from memory and adds them to the user message at the end of the path, for the model only (B6). */
export async function recallMemory(run: TurnRun, memory: TurnMemory): Promise<void> {
  const { session, branch, origin } = run;
  const notice = (reason: string) => session.notify({ type: "memory.skipped", run: run.id, reason }, origin);
  const message = branch.path.at(-1);
  if (message?.role !== "user") return;
  const late = new AbortController();
  const cancel = alarm(memory.timeout, () => {
    late.abort(new Error(`memory did not answer within its timeout of ${memory.timeout} ms`));
  });
  const signal = AbortSignal.any([run.signal, late.signal]);
  let items: readonly RecalledMemory[];
  try {
    await orAborted(writing.get(memory.store), signal);
    const options = { limit: memory.limit, signal, conversation: session.id, notice };
    const recalled = await orAborted(memory.store.recall(textOf(message), options), signal);
    items = recalled.map(({ text, source, kind, role, at, conversation, message }) => ({
      text: String(text),
      source: String(source),
      ...(kind === undefined ? {} : { kind }),
      ...(role === undefined ? {} : { role }),
      ...(at === undefined ? {} : { at: Number(at) }),
      ...(conversation === undefined ? {} : { conversation: String(conversation) }),
      ...(message === undefined ? {} : { message: String(message) }),
    }));
  } catch (error) {
    // A turn without memory is better than no turn; the feed gets the reason.
    notice(errorMessage(error));
    return;
  } finally {
    cancel();
  }
  const unwanted = new Set(branch.path.flatMap(dismissedOf).map(({ text }) => text));
  const wanted = items.filter(({ text }) => !unwanted.has(text));
  if (wanted.length === 0) return;
  // Dismissed entries stay with the message, so that users can see and restore them.
  const marked = memory.cites ? withMarks(wanted, branch.path) : wanted;
  const told = [...marked, ...dismissedOf(message)];
  await session.commit([{ type: "memory.recalled", message: message.id, items: told }], { origin });
}

/** Gives each entry a mark that no other entry on the path has. */
function withMarks(items: readonly RecalledMemory[], path: readonly Message[]): RecalledMemory[] {
  const known = recalledOn(path).map(({ mark }) => Number(mark?.slice(1) ?? 0));
  const first = Math.max(0, ...known) + 1;
  return items.map((item, index) => ({ ...item, mark: `m${first + index}` }));
}

function recalledOn(path: readonly Message[]): RecalledMemory[] {
  const recalled: RecalledMemory[] = [];
  for (const message of path) if (message.role === "user" && message.recalled) recalled.push(...message.recalled);
  return recalled;
}

/** Returns the recalled entries that a response of the run cites. */
export function citedMemory({ branch }: TurnRun, response: Message | undefined): readonly RecalledMemory[] {
  if (!response) return [];
  // The agent before a hand-off may have recalled the entries.
  const shown = recalledOn(branch.path).filter(({ mark, dismissed }) => mark !== undefined && !dismissed);
  return shown.length === 0 ? shown : citedIn(textOf(response), shown);
}

function dismissedOf(message: Message): readonly RecalledMemory[] {
  return message.role === "user" ? (message.recalled?.filter(({ dismissed }) => dismissed) ?? []) : [];
}

/** Writes the messages of a turn to memory, in the background. */
export function rememberTurn(run: TurnRun, memory: TurnMemory): void {
  const { session, branch } = run;
  const items = branch.path.slice(run.from).flatMap((message): MemoryItem[] => {
    const { id, role, createdAt: at } = message;
    if (role === "summary" || (role === "user" && message.author !== "user")) return [];
    // Memory does not keep the marks of citations, which count only in their conversation.
    const text = memory.cites && role === "assistant" ? withoutCitations(textOf(message)) : textOf(message);
    return text === "" ? [] : [{ kind: "said", role, text, conversation: session.id, message: id, at }];
  });
  const summary = run.progress.finished?.summary;
  if (summary) items.push({ kind: "summary", text: summary, conversation: session.id, at: Date.now() });
  remember(run, memory, items);
}

export function rememberSummary(run: TurnRun, text: string): void {
  const { memory } = run.agent;
  if (memory) remember(run, memory, [{ kind: "summary", text, conversation: run.session.id, at: Date.now() }]);
}

function remember(run: TurnRun, memory: TurnMemory, items: readonly MemoryItem[]): void {
  const { session } = run;
  if (items.length === 0) return;
  const late = new AbortController();
  const cancel = alarm(WRITING_TIME, () => late.abort(new Error("memory did not finish writing within a minute")));
  const before = writing.get(memory.store) ?? Promise.resolve();
  const written = before
    .then(() => orAborted(memory.store.remember(items), late.signal))
    .catch((error: unknown) => {
      session.notify({ type: "memory.skipped", run: run.id, reason: errorMessage(error) }, run.origin);
    })
    .finally(cancel);
  writing.set(memory.store, written);
}
