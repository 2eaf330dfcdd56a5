import { createId } from "@banyan/core";
import type { ConversationState, FeedItem, UserPart } from "@banyan/core/conversation";
import { Client, ClientError, type Watched } from "@banyan/protocol/client";
import type { Desk } from "../desk/desk.ts";
import type { Principal } from "../desk/principal.ts";

/** What a program says that comes by a door, and where. */
export interface Said {
  /** A new one when absent. */
  readonly conversation?: string | undefined;
  /** The message that began the turn to go on from; where the conversation was last written to when absent. */
  readonly behind?: string | undefined;
  readonly parts: readonly UserPart[];
  /** `provider/model`; the host's when absent. */
  readonly model?: string | undefined;
}

/** What is heard of a turn while it runs, its own voice only: not those of sub-agents. */
export type Heard =
  | { readonly type: "text" | "reasoning"; readonly message: string; readonly text: string }
  /** What was heard of this message is no part of the answer: the model is asked again. */
  | { readonly type: "abandoned"; readonly message: string };

/** What came of a turn. */
export interface Taken {
  readonly reason: "answered" | "finished" | "limit" | "failed" | "interrupted";
  readonly error?: string | undefined;
  /** The text of its answers, one for each that has some. */
  readonly texts: readonly string[];
  readonly usage: {
    readonly input: number;
    readonly cached: number;
    readonly output: number;
    readonly reasoning: number;
  };
}

/** A turn that has begun. */
export interface DoorTurn {
  readonly conversation: string;
  /** The message that began it, by which another turn can go on from it. */
  readonly message: string;
  /** Rejects with `ClientError` when it cannot be followed any more. */
  readonly taken: Promise<Taken>;
}

const NO_PERSON = "It came by a door at which no person can be asked; only what a rule allows is done there.";

/**
 * Says something at the desk and tells what is answered, until the turn is over; when `signal` aborts, the turn is
 * interrupted. What it asks a person is denied: nobody is there. Rejects with `ClientError` when no turn begins.
 */
export async function takeTurn(
  desk: Desk,
  principal: Principal,
  said: Said,
  { hear, signal }: { readonly hear: (heard: Heard) => void; readonly signal: AbortSignal },
): Promise<DoorTurn> {
  const gone = Promise.withResolvers<never>();
  gone.promise.catch(() => {}); // Whoever waits for the turn is told, too.
  const client = new Client(desk.link({ principal }), {
    changed: (state) => state.phase === "gone" && gone.reject(state.error),
  });
  try {
    const { conversation } = said.conversation
      ? { conversation: said.conversation }
      : await client.ask("conversation.create", {});
    const watched = await client.watch(conversation).loaded;
    const at = said.behind === undefined ? undefined : lastOfTurn(watched, said.behind);
    const message = createId();
    const taken = Promise.race([gone.promise, follow(client, watched, message, hear)]);
    taken.catch(() => {}); // The caller hears of it once the turn has begun, and before by the command.
    // A turn that has begun is known by its run, one that has not by its command.
    const onAbort = () => {
      const live = watched.state.runs.values().find(({ id }) => isOfTurn(watched, id, message));
      // It was over already.
      client.ask("run.interrupt", { conversation, run: live?.id ?? message }).catch(() => {});
    };
    signal.addEventListener("abort", onAbort);
    await client.ask(
      "turn.say",
      {
        conversation,
        parts: [...said.parts],
        asIs: true,
        ...(at === undefined ? {} : { at }),
        ...(said.model === undefined ? {} : { model: said.model }),
      },
      message,
    );
    if (signal.aborted) onAbort();
    const over = taken.finally(() => {
      signal.removeEventListener("abort", onAbort);
      client.close();
    });
    over.catch(() => {});
    return { conversation, message, taken: over };
  } catch (error) {
    client.close();
    throw error;
  }
}

/** The run that answers a message. */
function runBehind({ state }: Watched, message: string): string | undefined {
  for (const child of state.children.get(message) ?? []) {
    const answer = state.messages.get(child);
    if (answer?.role === "assistant") return answer.run;
  }
  return undefined;
}

function isOfTurn(watched: Watched, run: string, message: string): boolean {
  return watched.state.runs.get(run)?.leaf === message || runBehind(watched, message) === run;
}

/** The end of the turn that a message began. Throws `ClientError` when there is none. */
function lastOfTurn(watched: Watched, message: string): string {
  const { state, id } = watched;
  if (!state.messages.has(message)) throw new ClientError("not-found", `The conversation ${id} has no such response.`);
  const run = runBehind(watched, message);
  if (run !== undefined && state.runs.has(run))
    throw new ClientError("invalid", "That response is still being made. Wait until it is complete, and ask again.");
  return run === undefined ? message : (lastOfRun(state, run) ?? message);
}

/** The last message that a run wrote. */
export function lastOfRun({ messages }: ConversationState, run: string): string | undefined {
  return [...messages.values()].findLast((each) => each.role === "assistant" && each.run === run)?.id;
}

/** A file that a program sends by its address, which may hold it whole. Throws `ClientError`. */
export function fileAt(url: string, mediaType: string, name?: string): UserPart {
  const called = name === undefined ? {} : { name };
  const [, type, data] = /^data:([\w.+-]+\/[\w.+-]+);base64,([\w+/]+=*)$/.exec(url) ?? [];
  if (type !== undefined && data !== undefined) return { type: "file", mediaType: type, data, ...called };
  if (/^https?:\/\//.test(url)) return { type: "file", mediaType, url, ...called };
  throw new ClientError("malformed", "A file needs an address of http or https, or data: with base 64.");
}

/** Resolves with what came of the turn that this message begins, and tells what is heard of it until then. */
function follow(client: Client, watched: Watched, message: string, hear: (heard: Heard) => void): Promise<Taken> {
  const over = Promise.withResolvers<Taken>();
  const usage = { input: 0, cached: 0, output: 0, reasoning: 0 };
  const texts: string[] = [];
  let run: string | undefined;

  /** Whether it is this turn's, or that of a sub-agent of it. */
  const isOurs = (id: string | undefined): boolean => {
    if (id === undefined || run === undefined) return false;
    if (id === run) return true;
    const { state } = watched;
    const by = [...state.messages.values()].find((each) => each.role === "assistant" && each.run === id)?.call;
    const launcher = by === undefined ? undefined : state.messages.get(state.calls.get(by) ?? "");
    return launcher?.role === "assistant" && isOurs(launcher.run);
  };
  const deny = (question: string): void => {
    client
      .ask("question.answer", { conversation: watched.id, question, answer: { decision: "deny", reason: NO_PERSON } })
      // Somebody at another window answered first.
      .catch(() => {});
  };
  const runOf = (id: string) => {
    const of = watched.state.messages.get(id);
    return of?.role === "assistant" ? of.run : undefined;
  };

  const item = (told: FeedItem): void => {
    switch (told.type) {
      case "run.started":
        if (told.leaf === message && told.call === undefined) run ??= told.run;
        return;
      case "message.started":
        if (told.parentId === message) run ??= told.run;
        return;
      case "text.delta":
      case "reasoning.delta":
        if (told.run === run)
          hear({ type: told.type === "text.delta" ? "text" : "reasoning", message: told.message, text: told.text });
        return;
      case "message.abandoned":
        hear({ type: "abandoned", message: told.message });
        return;
      case "message.completed": {
        if (runOf(told.message) !== run) return;
        const text = told.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
        if (text !== "") texts.push(text);
        for (const name of ["input", "cached", "output", "reasoning"] as const) usage[name] += told.usage[name];
        return;
      }
      case "call.approval-requested":
      case "question.asked":
        if (isOurs(runOf(told.message))) deny(told.question);
        return;
      case "run.paused":
        if (isOurs(told.run)) deny(told.question);
        return;
      case "run.ended":
        if (told.run === run) over.resolve({ reason: told.reason, error: told.error?.message, texts, usage });
    }
  };
  const lost = "The conversation cannot be followed any more; what was said is in it.";
  const unfollow = watched.follow({
    item,
    renewed: () => over.reject(new ClientError("failed", lost)),
    stands: (standing) => standing !== "live" && over.reject(watched.problem ?? new ClientError("failed", lost)),
  });
  return over.promise.finally(unfollow);
}
