import { ClientError, type Watched } from "@banyan/client";
import { isSameTurn, lastOfRun, openRun, TurnReader } from "@banyan/client/display";
import { createId, type RunEnd } from "@banyan/core";
import type { UserPart } from "@banyan/core/conversation";
import { addUsage, noUsage, type Usage } from "@banyan/core/conversation";
import type { ProgramAnswers } from "@banyan/host";
import type { ClientTool } from "@banyan/protocol";
import type { Desk } from "../desk/desk.ts";
import type { Principal } from "../desk/principal.ts";
import { answersTo, type Followed, follow, QUIET } from "./following.ts";

/** A call that the program carries out. */
export interface HandedOut {
  readonly call: string;
  readonly tool: string;
  readonly inputText: string;
}

/** What a program says that comes by a door, and where. */
export interface Asking {
  /** A new one when absent. */
  readonly conversation?: string | undefined;
  /** The conversation begins with this request: how its program takes answers. */
  readonly program?: ProgramAnswers | undefined;
  /** The message to go on from, instead of `behind`. */
  readonly at?: string | undefined;
  /** The message is said beside this one, which began the conversation. */
  readonly beside?: string | undefined;
  /** The message that began the turn to go on from; where the conversation was last written to when absent. */
  readonly behind?: string | undefined;
  readonly parts: readonly UserPart[];
  /** `provider/model`; the host's when absent. */
  readonly model?: string | undefined;
  /** What the program carries out itself. */
  readonly tools?: readonly ClientTool[] | undefined;
}

/** What came of calls that the program carried out: the turn that waits for them goes on. */
export interface Results {
  readonly conversation: string;
  readonly results: readonly { readonly call: string; readonly output: string }[];
  readonly tools?: readonly ClientTool[] | undefined;
}

/** What is heard of a turn while it runs, its own voice only: not those of sub-agents. */
export type Heard =
  | { readonly type: "text" | "reasoning"; readonly message: string; readonly text: string }
  /** What was heard of this message is no part of the answer: the model is asked again. */
  | { readonly type: "abandoned"; readonly message: string };

/** What came of a turn; `calls`: it waits for what comes of those that are handed out. */
export interface Taken {
  readonly reason: RunEnd | "calls";
  readonly error?: string | undefined;
  /** Of the error. */
  readonly code?: string | undefined;
  /** The text of its answers, one for each that has some. */
  readonly texts: readonly string[];
  readonly calls: readonly HandedOut[];
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

const NO_PERSON = "This client cannot ask a user, so only calls that a rule allows are run.";

/**
 * Says something at the desk, or what came of calls, and tells what is answered, until the turn is over or waits for calls
 * that it hands out; when `signal` aborts before, the turn is interrupted. What it asks a person is denied: nobody is there.
 * Rejects with `ClientError` when no turn begins or goes on.
 */
export async function takeTurn(
  desk: Desk,
  principal: Principal,
  asking: Asking | Results,
  { hear, signal }: { readonly hear: (heard: Heard) => void; readonly signal: AbortSignal },
): Promise<DoorTurn> {
  const { conversation = createId() } = asking;
  const program = "parts" in asking ? asking.program : undefined;
  const makes = asking.conversation === undefined || program !== undefined;
  const followed = await follow(desk, principal, conversation, { makes, program });
  const { client, gone } = followed;
  try {
    const { message, read, ask } = "results" in asking ? resulting(followed, asking) : saying(followed, asking);
    const taken = Promise.race([gone, listen(followed, read, asking.tools ?? [], hear)]);
    taken.catch(() => {}); // The caller hears of it once the turn has begun, and before by the command.
    // A turn that has begun is known by its run, one that has not by its command; if it was over already, nothing is.
    const onAbort = () => {
      client.ask("run.interrupt", { conversation, run: read.run ?? message }).catch(() => {});
    };
    signal.addEventListener("abort", onAbort);
    await ask();
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

/** How a turn is asked for: the message that begins it, what reads it, and the command. */
interface Beginning {
  readonly message: string;
  readonly read: TurnReader;
  readonly ask: () => Promise<unknown>;
}

function saying({ client, watched }: Followed, asking: Asking): Beginning {
  const { behind, beside, parts, model, tools } = asking;
  const place = asking.at === undefined ? behind && lastOfTurn(watched, behind) : atRest(watched, asking.at);
  const at = place === undefined ? {} : { at: place };
  const how = { ...at, ...(model === undefined ? {} : { model }), ...(tools?.length ? { tools: [...tools] } : {}) };
  const message = createId();
  const said = { conversation: watched.id, parts: [...parts], slash: true, ...how };
  const ask = () =>
    beside === undefined
      ? client.ask("turn.say", { ...said, asIs: true }, message)
      : client.ask("turn.retry", { ...said, at: beside }, message);
  return { message, read: new TurnReader(message), ask };
}

function resulting(followed: Followed, { results, tools }: Results): Beginning {
  const { state, id } = followed.watched;
  const answers = results.map(({ call, output }) => {
    const open = [...state.questions.values()].find((question) => question.type === "text" && question.call === call);
    if (open) return { question: open.id, answer: { decision: "answer", text: output } };
    throw new ClientError(
      "not-found",
      `No call ${JSON.stringify(call)} of the conversation ${id} is waiting for a result.`,
    );
  });
  const { asking, run, give } = answersTo(followed, answers, tools);
  const first = [...state.messages.values()].find(
    (each) => each.role === "assistant" && run !== undefined && isSameTurn(state, each.run, run),
  );
  if (run === undefined || !first?.parentId) throw new ClientError("not-found", `No turn of ${id} waits.`);
  const read = new TurnReader(run);
  read.takeUp(state, run, asking);
  return { message: first.parentId, read, ask: give };
}

/** A message to go on from. Throws `ClientError` while its turn works. */
function atRest({ state }: Watched, message: string): string {
  const known = state.messages.get(message);
  if (known?.role === "assistant" && openRun(state, known.run)) throw stillMade();
  return message;
}

function stillMade(): ClientError {
  return new ClientError("invalid", "That response is not complete yet. Wait until it is, and try again.");
}

/** The end of the turn that a message began. Throws `ClientError` when there is none. */
function lastOfTurn({ state, id }: Watched, message: string): string {
  if (!state.messages.has(message)) throw new ClientError("not-found", `The conversation ${id} has no such response.`);
  const answers = (state.children.get(message) ?? []).map((child) => state.messages.get(child));
  const run = answers.find((each) => each?.role === "assistant")?.run;
  if (run !== undefined && openRun(state, run)) throw stillMade();
  return run === undefined ? message : (lastOfRun(state, run) ?? message);
}

/** Resolves with what came of a turn, and tells what is heard of it until then. */
function listen(
  { client, watched }: Followed,
  read: TurnReader,
  tools: readonly ClientTool[],
  hear: (heard: Heard) => void,
): Promise<Taken> {
  const over = Promise.withResolvers<Taken>();
  let usage = noUsage;
  let quiet: NodeJS.Timeout | undefined;
  const texts: string[] = [];
  const isOurs = ({ question }: TurnReader["questions"][number]) =>
    question.type === "text" && tools.some(({ name }) => name === question.tool);
  const deny = (question: string): void => {
    client
      .ask("question.answer", { conversation: watched.id, question, answer: { decision: "deny", reason: NO_PERSON } })
      // Somebody at another window answered first.
      .catch(() => {});
  };
  const lost = () =>
    over.reject(
      watched.problem ??
        new ClientError("failed", "The connection to the conversation was lost. Its messages are saved."),
    );
  const handOut = () => {
    const calls = read.questions.flatMap(({ question }): HandedOut[] => {
      if (question.type !== "text") return [];
      const asks = watched.state.messages.get(watched.state.calls.get(question.call) ?? "");
      const call = asks?.role === "assistant" ? asks.calls.find(({ id }) => id === question.call) : undefined;
      return [{ call: question.call, tool: question.tool, inputText: call?.inputText ?? "" }];
    });
    over.resolve({ reason: "calls", texts, calls, usage });
  };
  const unfollow = watched.follow({
    item: (item) => {
      for (const told of read.take(item)) {
        if (told.type === "question" && !isOurs(told)) deny(told.question.id);
        else if (told.by !== undefined) continue;
        else if (told.type === "text") hear({ type: told.kind, message: told.message, text: told.text });
        else if (told.type === "message-discard") hear({ type: "abandoned", message: told.message });
        else if (told.type === "turn-end")
          over.resolve({ reason: told.reason, error: told.error, code: told.code, texts, calls: [], usage });
        else if (told.type === "message-end") {
          if (told.text !== "") texts.push(told.text);
          usage = addUsage(usage, told.usage);
        }
      }
      clearTimeout(quiet);
      if (read.questions.some(isOurs)) quiet = setTimeout(handOut, QUIET);
    },
    renewed: lost,
    stands: (standing) => standing !== "live" && lost(),
  });
  return over.promise.finally(() => {
    clearTimeout(quiet);
    unfollow();
  });
}
