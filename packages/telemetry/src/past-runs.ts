import type { Session } from "@banyan/core";
import { type Event, type FeedItem, isDelta } from "@banyan/core/conversation";

const BEGINNING = { epoch: 1, seq: 0, offset: 0 };

/**
 * Reads the events of another process's runs from the log, up to the event number `until`. Includes their responses,
 * calls, questions and sub-agents. Leaves out runs that the other process has reported as ended. Rejects if there is no
 * log, or the session closes first.
 */
export async function eventsOfRuns(session: Session, runs: Iterable<string>, until: number): Promise<readonly Event[]> {
  const [wanted, messages, calls, questions] = [new Set(runs), new Set<string>(), new Set<string>(), new Set<string>()];
  const ended = new Set<string>();
  const again = new Set<string>();
  const events: Event[] = [];
  for await (const item of session.feed({ from: BEGINNING })) {
    if (!isLoggedEvent(item)) continue;
    if (item.type === "run.started" && item.call !== undefined && calls.has(item.call)) wanted.add(item.run);
    const { run, message, call, question } = eventIds(item);
    const isOurs =
      (run !== undefined && wanted.has(run)) ||
      (message !== undefined && messages.has(message)) ||
      (question !== undefined && questions.has(question));
    if (isOurs) {
      events.push(item);
      if (item.type === "message.started") messages.add(item.message);
      if (call !== undefined) calls.add(call);
      if (question !== undefined) questions.add(question);
      if (item.type === "run.ended") (ended.has(item.run) ? again : ended).add(item.run);
    }
    if (item.seq >= until) return events.filter((event) => !("run" in event && again.has(event.run ?? "")));
  }
  throw new Error("The session was closed before its log was read.");
}

function eventIds(event: Event): Readonly<Partial<Record<"run" | "message" | "call" | "question", string>>> {
  const names = (["run", "message", "call", "question"] as const).flatMap((name) => {
    const value: unknown = Reflect.get(event, name);
    return typeof value === "string" ? [[name, value]] : [];
  });
  return Object.fromEntries(names);
}

function isLoggedEvent(item: FeedItem): item is Event {
  return "seq" in item && !isDelta(item);
}
