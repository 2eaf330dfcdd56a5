import { ClientError, type WatchedConversation } from "@banyan/client";
import { isSameTurn, lastMessageOfTurn, openRun, TurnReader } from "@banyan/client/display";
import { createId, type RunEnd } from "@banyan/core";
import type { UserPart } from "@banyan/core/conversation";
import { addUsage, noUsage, type Usage } from "@banyan/core/conversation";
import type { Desk, Principal } from "@banyan/desk";
import type { AnswerStyle } from "@banyan/host";
import type { ClientTool } from "@banyan/protocol";
import { type DoorWatch, followConversation, giveAnswers, QUIET } from "../turn-stream.ts";

/** A call that the program must run. */
export interface ClientCall {
  readonly call: string;
  readonly tool: string;
  readonly inputText: string;
}

/** A program's message, and the place in the tree where it goes. */
export interface TurnRequest {
  /** The conversation. Absent: a new conversation. */
  readonly conversation?: string | undefined;
  /** How the program reads answers. Present if the request creates the conversation. */
  readonly program?: AnswerStyle | undefined;
  /** The message to continue from, instead of `behind`. */
  readonly at?: string | undefined;
  /** The first message of the conversation, if the new message becomes its sibling. */
  readonly beside?: string | undefined;
  /** The first message of the turn from which to continue. Default: the newest message of the conversation. */
  readonly behind?: string | undefined;
  /** Earlier messages that are missing on the branch, in OpenAI's format, without system messages. */
  readonly history?: readonly object[] | undefined;
  readonly parts: readonly UserPart[];
  /** The model, as `provider/model`. Default: the host's model. */
  readonly model?: string | undefined;
  /** The tools that the program runs itself. */
  readonly tools?: readonly ClientTool[] | undefined;
}

/** Results of calls that the program ran. The waiting turn continues with them. */
export interface Results {
  readonly conversation: string;
  readonly results: readonly { readonly call: string; readonly output: string }[];
  readonly tools?: readonly ClientTool[] | undefined;
}

/** Output of a running turn, without its sub-agents. */
export type TurnUpdate =
  | { readonly type: "text" | "reasoning"; readonly message: string; readonly text: string }
  /** A sentence about the results of the turn's goal. */
  | { readonly type: "goal"; readonly text: string }
  /** The text of this message is discarded, because the model is asked again. */
  | { readonly type: "abandoned"; readonly message: string };

/** An answer with text, or a sentence about the results of the turn's goal. */
export interface TurnOutput {
  readonly type: "text" | "goal";
  readonly text: string;
}

/** The result of a turn. `calls`: the turn waits for the results of these calls. */
export interface TurnResult {
  readonly reason: RunEnd | "calls";
  readonly error?: string | undefined;
  readonly code?: string | undefined;
  /** In order. Answers without text are omitted. */
  readonly outputs: readonly TurnOutput[];
  readonly calls: readonly ClientCall[];
  readonly usage: Usage;
}

export function textsOf({ outputs }: TurnResult, type: TurnOutput["type"]): string[] {
  return outputs.flatMap((each) => (each.type === type ? [each.text] : []));
}

/** A turn that has begun. */
export interface DoorTurn {
  readonly conversation: string;
  /** The first message of the turn, from which another turn can continue. */
  readonly message: string;
  /** Rejects with `ClientError` if the turn cannot be followed any further. */
  readonly taken: Promise<TurnResult>;
}

const NO_PERSON = "This client cannot ask a user, so only calls that a rule allows can run.";

/**
 * Sends a message, or results of calls, and reports the answer until the turn ends or waits for the program's calls.
 * Interrupts the turn when `signal` aborts. Denies all questions, because no user is there. Rejects with `ClientError`
 * if no turn begins or continues.
 */
export async function takeDoorTurn(
  desk: Desk,
  principal: Principal,
  asking: TurnRequest | Results,
  { hear, signal }: { readonly hear: (heard: TurnUpdate) => void; readonly signal: AbortSignal },
): Promise<DoorTurn> {
  const { conversation = createId() } = asking;
  const program = "parts" in asking ? asking.program : undefined;
  const makes = asking.conversation === undefined || program !== undefined;
  const followed = await followConversation(desk, principal, conversation, { makes, program });
  const { client, gone } = followed;
  try {
    const { message, read, ask } = "results" in asking ? resulting(followed, asking) : saying(followed, asking);
    const taken = Promise.race([gone, listenToTurn(followed, read, asking.tools ?? [], hear)]);
    taken.catch(() => {}); // The caller gets the error from `taken` or, before, from the command.
    // A turn is interrupted by its run, or before it begins by its command. A turn that has ended is not affected.
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

interface DoorTurnStart {
  readonly message: string;
  readonly read: TurnReader;
  readonly ask: () => Promise<unknown>;
}

function saying({ client, watched }: DoorWatch, asking: TurnRequest): DoorTurnStart {
  const { behind, beside, history = [], parts, model, tools } = asking;
  const place = asking.at === undefined ? behind && lastOfTurn(watched, behind) : atRest(watched, asking.at);
  const how = { ...(model === undefined ? {} : { model }), ...(tools?.length ? { tools: [...tools] } : {}) };
  const message = createId();
  const conversation = watched.id;
  const said = { conversation, parts: [...parts], slash: true, ...how };
  const ask = async () => {
    if (beside !== undefined && history.length === 0) return client.ask("turn.retry", { ...said, at: beside }, message);
    const below = beside === undefined ? place : null;
    const added =
      history.length > 0 &&
      (await client.ask("history.add", {
        conversation,
        messages: history.map((each) => ({ ...each })),
        ...(below !== undefined && { at: below }),
      }));
    const at = (added ? added.message : place) ?? undefined;
    return client.ask("turn.say", { ...said, ...(at !== undefined && { at }), asIs: true }, message);
  };
  return { message, read: new TurnReader(message), ask };
}

function resulting(followed: DoorWatch, { results, tools }: Results): DoorTurnStart {
  const { state, id } = followed.watched;
  const answers = results.map(({ call, output }) => {
    const open = [...state.questions.values()].find((question) => question.type === "text" && question.call === call);
    if (open) return { question: open.id, answer: { decision: "answer", text: output } };
    throw new ClientError(
      "not-found",
      `No call ${JSON.stringify(call)} of the conversation ${id} is waiting for a result.`,
    );
  });
  const { asking, run, give } = giveAnswers(followed, answers, tools);
  const first = [...state.messages.values()].find(
    (each) => each.role === "assistant" && run !== undefined && isSameTurn(state, each.run, run),
  );
  if (run === undefined || !first?.parentId)
    throw new ClientError("not-found", `No turn of the conversation ${id} is waiting for a result.`);
  const read = new TurnReader(run);
  read.takeUp(state, run, asking);
  return { message: first.parentId, read, ask: give };
}

/** Checks a message to continue from. Throws `ClientError` while its turn works. */
function atRest({ state }: WatchedConversation, message: string): string {
  const known = state.messages.get(message);
  if (known?.role === "assistant" && openRun(state, known.run)) throw stillMade();
  return message;
}

function stillMade(): ClientError {
  return new ClientError("invalid", "The response is not complete yet. Wait until it is complete, then try again.");
}

/** The last message of the turn that a message began. Throws `ClientError` if there is none. */
function lastOfTurn({ state, id }: WatchedConversation, message: string): string {
  if (!state.messages.has(message)) throw new ClientError("not-found", `The conversation ${id} has no such response.`);
  const answers = (state.children.get(message) ?? []).map((child) => state.messages.get(child));
  const run = answers.find((each) => each?.role === "assistant")?.run;
  if (run !== undefined && openRun(state, run)) throw stillMade();
  return run === undefined ? message : (lastMessageOfTurn(state, run) ?? message);
}

function listenToTurn(
  { client, watched }: DoorWatch,
  read: TurnReader,
  tools: readonly ClientTool[],
  hear: (heard: TurnUpdate) => void,
): Promise<TurnResult> {
  const over = Promise.withResolvers<TurnResult>();
  let usage = noUsage;
  let quiet: NodeJS.Timeout | undefined;
  const outputs: TurnOutput[] = [];
  const isOurs = ({ question }: TurnReader["questions"][number]) =>
    question.type === "text" && tools.some(({ name }) => name === question.tool);
  const deny = (question: string): void => {
    client
      .ask("question.answer", { conversation: watched.id, question, answer: { decision: "deny", reason: NO_PERSON } })
      // Another client has answered first.
      .catch(() => {});
  };
  const lost = () =>
    over.reject(
      watched.problem ??
        new ClientError("failed", "The connection to the conversation was lost. Its messages are saved."),
    );
  const handOut = () => {
    const calls = read.questions.flatMap(({ question }): ClientCall[] => {
      if (question.type !== "text") return [];
      const asks = watched.state.messages.get(watched.state.calls.get(question.call) ?? "");
      const call = asks?.role === "assistant" ? asks.calls.find(({ id }) => id === question.call) : undefined;
      return [{ call: question.call, tool: question.tool, inputText: call?.inputText ?? "" }];
    });
    over.resolve({ reason: "calls", outputs, calls, usage });
  };
  const unfollow = watched.follow({
    item: (item) => {
      for (const turnItem of read.take(item)) {
        if (turnItem.type === "question" && !isOurs(turnItem)) deny(turnItem.question.id);
        else if (turnItem.by !== undefined) continue;
        else if (turnItem.type === "text")
          hear({ type: turnItem.kind, message: turnItem.message, text: turnItem.text });
        else if (turnItem.type === "goal") {
          outputs.push({ type: "goal", text: turnItem.text });
          hear({ type: "goal", text: turnItem.text });
        } else if (turnItem.type === "message-discard") hear({ type: "abandoned", message: turnItem.message });
        else if (turnItem.type === "turn-end")
          over.resolve({
            reason: turnItem.reason,
            error: turnItem.error,
            code: turnItem.code,
            outputs,
            calls: [],
            usage,
          });
        else if (turnItem.type === "message-end") {
          if (turnItem.text !== "") outputs.push({ type: "text", text: turnItem.text });
          usage = addUsage(usage, turnItem.usage);
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
