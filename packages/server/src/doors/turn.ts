import { createId } from "@banyan/core";
import type { UserPart } from "@banyan/core/conversation";
import { addUsage, noUsage, type Usage } from "@banyan/core/conversation";
import { ClientError, type Watched } from "@banyan/protocol/client";
import type { Desk } from "../desk/desk.ts";
import type { Principal } from "../desk/principal.ts";
import { type Following, follow, lastOfRun } from "./following.ts";
import { ToldTurn } from "./told-turn.ts";

/** What a program says that comes by a door, and where. */
export interface Asking {
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
  readonly usage: Usage;
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
  asking: Asking,
  { hear, signal }: { readonly hear: (heard: Heard) => void; readonly signal: AbortSignal },
): Promise<DoorTurn> {
  const { conversation = createId() } = asking;
  const followed = await follow(desk, principal, conversation, { makes: asking.conversation === undefined });
  const { client, watched, gone } = followed;
  try {
    const at = asking.behind === undefined ? undefined : lastOfTurn(watched, asking.behind);
    const message = createId();
    const read = new ToldTurn(message);
    const taken = Promise.race([gone, listen(followed, read, hear)]);
    taken.catch(() => {}); // The caller hears of it once the turn has begun, and before by the command.
    // A turn that has begun is known by its run, one that has not by its command; if it was over already, nothing is.
    const onAbort = () => {
      client.ask("run.interrupt", { conversation, run: read.run ?? message }).catch(() => {});
    };
    signal.addEventListener("abort", onAbort);
    await client.ask(
      "turn.say",
      {
        conversation,
        parts: [...asking.parts],
        asIs: true,
        ...(at === undefined ? {} : { at }),
        ...(asking.model === undefined ? {} : { model: asking.model }),
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

/** The end of the turn that a message began. Throws `ClientError` when there is none. */
function lastOfTurn({ state, id }: Watched, message: string): string {
  if (!state.messages.has(message)) throw new ClientError("not-found", `The conversation ${id} has no such response.`);
  const answers = (state.children.get(message) ?? []).map((child) => state.messages.get(child));
  const run = answers.find((each) => each?.role === "assistant")?.run;
  if (run !== undefined && state.runs.has(run))
    throw new ClientError("invalid", "That response is still being made. Wait until it is complete, and ask again.");
  return run === undefined ? message : (lastOfRun(state, run) ?? message);
}

/** Resolves with what came of a turn, and tells what is heard of it until then. */
function listen({ client, watched }: Following, read: ToldTurn, hear: (heard: Heard) => void): Promise<Taken> {
  const over = Promise.withResolvers<Taken>();
  let usage = noUsage;
  const texts: string[] = [];
  const deny = (question: string): void => {
    client
      .ask("question.answer", { conversation: watched.id, question, answer: { decision: "deny", reason: NO_PERSON } })
      // Somebody at another window answered first.
      .catch(() => {});
  };
  const lost = () =>
    over.reject(
      watched.problem ??
        new ClientError("failed", "The conversation cannot be followed any more; what was said is in it."),
    );
  const unfollow = watched.follow({
    item: (item) => {
      for (const told of read.take(item)) {
        if (told.type === "asks") deny(told.question.id);
        else if (told.by !== undefined) continue;
        else if (told.type === "said") hear({ type: told.kind, message: told.message, text: told.text });
        else if (told.type === "taken-back") hear({ type: "abandoned", message: told.message });
        else if (told.type === "over") over.resolve({ reason: told.reason, error: told.error, texts, usage });
        else if (told.type === "complete") {
          if (told.text !== "") texts.push(told.text);
          usage = addUsage(usage, told.usage);
        }
      }
    },
    renewed: lost,
    stands: (standing) => standing !== "live" && lost(),
  });
  return over.promise.finally(unfollow);
}
