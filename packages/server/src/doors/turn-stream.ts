import { Client, ClientError, type WatchedConversation } from "@banyan/client";
import { lastMessageOfTurn, newestTurn, type TurnReader, type UnplacedItem } from "@banyan/client/display";
import { createId } from "@banyan/core";
import { askingRuns, type ConversationState } from "@banyan/core/conversation";
import { errorMessage } from "@banyan/core/shown";
import type { Desk, Principal } from "@banyan/desk";
import { readClientCommand } from "@banyan/desk/serving";
import type { AnswerStyle } from "@banyan/host";
import type { ClientTool } from "@banyan/protocol";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import type { DoorRequest } from "./door.ts";

/**
 * Milliseconds of silence after which the stream of a waiting turn ends. Questions that arise together are then sent
 * together.
 */
export const QUIET = 300;

/** Maximum number of characters that may wait for a reader. A turn does not wait for its readers: a slower reader is dropped. */
const FULL = 1024 * 1024;

/** A conversation that an HTTP request follows. */
export interface DoorWatch {
  readonly client: Client;
  readonly watched: WatchedConversation;
  /** Rejects when the client's connection ends. */
  readonly gone: Promise<never>;
}

/**
 * Follows a conversation. With `makes`, first creates the conversation, for `program` if that is given. Rejects with
 * `ClientError`.
 */
export async function followConversation(
  desk: Desk,
  principal: Principal,
  conversation: string,
  { makes = false, program }: { readonly makes?: boolean; readonly program?: AnswerStyle | undefined } = {},
): Promise<DoorWatch> {
  const gone = Promise.withResolvers<never>();
  gone.promise.catch(() => {}); // The reader of the turn gets the error.
  const client = new Client(desk.link({ principal }), {
    changed: (state) => state.phase === "gone" && gone.reject(state.error),
  });
  try {
    if (makes) await client.ask("conversation.create", { conversation, ...(program && { program }) });
    return { client, gone: gone.promise, watched: await client.watch(conversation).loaded };
  } catch (error) {
    client.close();
    throw error;
  }
}

/** Interrupts the runs of a conversation, including those that are about to begin. Rejects with `ClientError`. */
export async function stopConversation(desk: Desk, principal: Principal, conversation: string) {
  const client = new Client(desk.link({ principal }));
  try {
    return await client.ask("run.interrupt", { conversation });
  } finally {
    client.close();
  }
}

/** Converts a turn into the pieces that an HTTP response streams. */
export interface TurnWriter<Piece> {
  readonly read: TurnReader;
  take(item: UnplacedItem): Piece[];
  takeUp(state: ConversationState, run: string, behind?: string): Piece[];
  pause(): Piece[];
}

/** A turn that one reader follows. */
export class TurnStream<Piece> {
  readonly turn: TurnWriter<Piece>;
  readonly #followed: DoorWatch;
  readonly #over = Promise.withResolvers<void>();
  readonly #unfollow: () => void;
  #waiting: Piece[] = [];
  #send: ((piece: Piece) => void) | undefined;
  #quiet: NodeJS.Timeout | undefined;

  constructor(followed: DoorWatch, turn: TurnWriter<Piece>) {
    this.turn = turn;
    this.#followed = followed;
    const { watched } = followed;
    this.#over.promise.catch(() => {}); // The reader gets the error.
    const lost = () =>
      this.#over.reject(watched.problem ?? new ClientError("failed", "The connection to the conversation was lost."));
    this.#unfollow = watched.follow({
      item: (item) => this.tell(turn.take(item)),
      renewed: lost,
      stands: (standing) => standing !== "live" && lost(),
    });
  }

  /** Resolves when the turn has ended or waits for a user. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  tell(pieces: readonly Piece[]): void {
    for (const piece of pieces) this.#send ? this.#send(piece) : this.#waiting.push(piece);
    clearTimeout(this.#quiet);
    if (this.turn.read.isOver) return this.#over.resolve();
    if (this.turn.read.questions.length === 0) return;
    this.#quiet = setTimeout(() => {
      for (const piece of this.turn.pause()) this.#send?.(piece);
      this.#over.resolve();
    }, QUIET);
  }

  /** Sends the turn from its beginning, or after a message that the reader has. */
  takeUp(run: string, behind?: string): void {
    this.tell(this.turn.takeUp(this.#followed.watched.state, run, behind));
  }

  end(pieces: readonly Piece[]): void {
    this.tell(pieces);
    this.#over.resolve();
  }

  tellTo(send: (piece: Piece) => void): void {
    this.#send = send;
    for (const piece of this.#waiting) send(piece);
    this.#waiting = [];
  }

  stop(): void {
    clearTimeout(this.#quiet);
    this.#unfollow();
  }
}

/**
 * Starts a turn and sends it from its beginning. If a run already works on the branch, this run gets the message, and
 * its turn is streamed. Rejects with `ClientError` if neither is possible.
 */
export async function beginTurnStream<Piece extends object>(
  followed: DoorWatch,
  telling: TurnStream<Piece>,
  asking: () => Promise<{ readonly waits?: boolean }>,
): Promise<TurnStream<Piece>> {
  try {
    const { waits = false } = await asking();
    const run = waits ? newestTurn(followed.watched.state) : undefined;
    if (run !== undefined) telling.takeUp(run);
    return telling;
  } catch (error) {
    telling.stop();
    throw error;
  }
}

/** The last pieces of a streamed HTTP response. */
export interface StreamEnd {
  /** The piece for a turn that cannot be followed any further. */
  problem(sentence: string): object;
  readonly last?: string;
}

/** Sends pieces until the turn ends or waits, then stops following. A reader that disconnects does not stop the turn. */
export function streamTurnEvents<Piece extends object>(
  context: DoorRequest,
  followed: DoorWatch,
  telling: TurnStream<Piece>,
  { problem, last }: StreamEnd,
): Response {
  return streamSSE(context, async (stream) => {
    const { send, left, sent } = eventSender(stream);
    try {
      telling.tellTo(send);
      await Promise.race([telling.over, left, followed.gone]);
    } catch (error) {
      send(problem(errorMessage(error)));
    } finally {
      telling.stop();
      followed.client.close();
    }
    await sent();
    if (last !== undefined) await stream.writeSSE({ data: last });
  });
}

/**
 * Returns functions that write events in order. `named`: gives each event its type as name. `sent` resolves when
 * everything is written or the reader has left. Closing the stream earlier would lose waiting data.
 */
export function eventSender(stream: SSEStreamingApi, { named = false } = {}) {
  let waiting = 0;
  let last: Promise<void> = Promise.resolve();
  const left = new Promise<void>((resolve) => stream.onAbort(resolve));
  const send = (data: object): void => {
    if (stream.aborted) return;
    const event = named && "type" in data ? { event: String(data.type) } : {};
    const text = JSON.stringify(data);
    waiting += text.length;
    if (waiting > FULL) return stream.abort();
    last = stream.writeSSE({ ...event, data: text }).then(
      () => {
        waiting -= text.length;
      },
      () => {}, // The reader left; `left` reports that.
    );
  };
  return { send, left, sent: () => Promise.race([last, left]) };
}

/**
 * Returns the parent for a message that follows `message`: the end of the response's turn, or the last summary below
 * that end. A note about an oversized message is treated like a summary. Throws `ClientError`.
 */
export function turnEndBehind(state: ConversationState, message: string): string {
  const known = state.messages.get(message);
  if (!known)
    throw new ClientError("not-found", `messages: this conversation has no message ${JSON.stringify(message)}.`);
  return belowSummary(state, known.role === "assistant" ? (lastMessageOfTurn(state, known.run) ?? message) : message);
}

function belowSummary(state: ConversationState, message: string): string {
  const newest = state.messages.get(state.children.get(message)?.at(-1) ?? "");
  return newest?.role === "summary" && !newest.removed ? belowSummary(state, newest.id) : message;
}

/** A program's answer to a question, in the form of the command `question.answer`. */
export interface ProgramAnswer {
  readonly question: string;
  readonly answer?: unknown;
}

/**
 * Matches a program's answers with the open questions. `asking`: the message of the first question. `run`: the run that
 * asks it. `give` sends the answers; only the first answer to a question has an effect. `tools`: the program's tools
 * for the continued turn. Throws `ClientError` for an invalid answer. `give` rejects with `ClientError` if the turn
 * cannot continue.
 */
export function giveAnswers(
  { client, watched }: DoorWatch,
  answers: readonly ProgramAnswer[],
  tools: readonly ClientTool[] = [],
) {
  const { state, id: conversation } = watched;
  const questions = answers.flatMap(({ question }) => state.questions.get(question) ?? []);
  const asking = questions.map(({ message }) => message).find((each) => typeof each === "string");
  const [first] = questions;
  const run = first && askingRuns(state, first).at(-1);
  const open = answers.filter(({ question }) => state.questions.has(question));
  const how = tools.length > 0 ? { tools: [...tools] } : {};
  const commands = open.map(({ question, answer }) => {
    const answering = { type: "question.answer", id: createId(), conversation, question, answer, ...how };
    const { command, error } = readClientCommand(answering);
    if (error) throw new ClientError(error.code, error.message);
    return command as typeof command & { readonly type: "question.answer" };
  });
  const give = async () => {
    for (const { type, id, ...answer } of commands) {
      const { problem } = await client.ask(type, answer, id).catch((error: unknown): { readonly problem?: string } => {
        if (error instanceof ClientError && error.code === "not-found") return {};
        throw error;
      });
      if (problem !== undefined && run !== undefined && state.waiting.has(run))
        throw new ClientError("failed", problem);
    }
  };
  return { asking, run, give };
}
