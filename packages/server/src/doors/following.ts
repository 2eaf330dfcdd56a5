import { Client, ClientError, type Watched } from "@banyan/client";
import { lastOfRun, type TurnReader, topRun, type UnplacedItem } from "@banyan/client/display";
import { createId } from "@banyan/core";
import { askingRuns, type ConversationState } from "@banyan/core/conversation";
import type { ProgramAnswers } from "@banyan/host";
import type { ClientTool } from "@banyan/protocol";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import type { Desk } from "../desk/desk.ts";
import type { Principal } from "../desk/principal.ts";
import { readCommand } from "../desk/read-command.ts";
import type { DoorRequest } from "./door.ts";

/** Milliseconds without a word after which a stream ends whose turn waits for a person: all that is asked at once is asked. */
export const QUIET = 300;

/** Characters that may wait for a reader. A turn does not wait for one, so whoever is slower than that has left. */
const FULL = 1024 * 1024;

/** A conversation that is followed for a request. */
export interface Followed {
  readonly client: Client;
  readonly watched: Watched;
  /** Rejects when the client is gone. */
  readonly gone: Promise<never>;
}

/** Follows a conversation, which begins with that if it `makes` one: of a `program`, where one is named. Rejects with `ClientError`. */
export async function follow(
  desk: Desk,
  principal: Principal,
  conversation: string,
  { makes = false, program }: { readonly makes?: boolean; readonly program?: ProgramAnswers | undefined } = {},
): Promise<Followed> {
  const gone = Promise.withResolvers<never>();
  gone.promise.catch(() => {}); // Whoever tells a turn is told.
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

/** Ends what runs in a conversation, or will. Rejects with `ClientError`. */
export async function stop(desk: Desk, principal: Principal, conversation: string) {
  const client = new Client(desk.link({ principal }));
  try {
    return await client.ask("run.interrupt", { conversation });
  } finally {
    client.close();
  }
}

/** What tells a turn in the words of a door. */
export interface Teller<Piece> {
  readonly read: TurnReader;
  take(item: UnplacedItem): Piece[];
  takeUp(state: ConversationState, run: string, behind?: string): Piece[];
  /** The stream ends here, and the turn does not: it waits for a person. */
  pause(): Piece[];
}

/** A turn that is told to one reader. */
export class ToldReader<Piece> {
  readonly turn: Teller<Piece>;
  readonly #followed: Followed;
  readonly #over = Promise.withResolvers<void>();
  readonly #unfollow: () => void;
  #waiting: Piece[] = [];
  #send: ((piece: Piece) => void) | undefined;
  #quiet: NodeJS.Timeout | undefined;

  constructor(followed: Followed, turn: Teller<Piece>) {
    this.turn = turn;
    this.#followed = followed;
    const { watched } = followed;
    this.#over.promise.catch(() => {}); // Whoever reads it is told.
    const lost = () =>
      this.#over.reject(watched.problem ?? new ClientError("failed", "The connection to the conversation was lost."));
    this.#unfollow = watched.follow({
      item: (item) => this.tell(turn.take(item)),
      renewed: lost,
      stands: (standing) => standing !== "live" && lost(),
    });
  }

  /** Resolves when nothing follows, or the turn waits for a person. */
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

  /** Tells the turn from its beginning, or from behind a message that the reader has. */
  takeUp(run: string, behind?: string): void {
    this.tell(this.turn.takeUp(this.#followed.watched.state, run, behind));
  }

  /** Nothing is to be told but this. */
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
 * Asks for a turn, which is told from its beginning. Where a run works at that place it hears what is said, and is what is
 * told. Rejects with `ClientError` when neither comes about.
 */
export async function beginTelling<Piece extends object>(
  followed: Followed,
  telling: ToldReader<Piece>,
  asking: () => Promise<{ readonly waits?: boolean }>,
): Promise<ToldReader<Piece>> {
  try {
    const { waits = false } = await asking();
    const run = waits ? topRun(followed.watched.state) : undefined;
    if (run !== undefined) telling.takeUp(run);
    return telling;
  } catch (error) {
    telling.stop();
    throw error;
  }
}

/** How a stream of a door ends beside its turn. */
export interface StreamEnd {
  /** What is told when the turn cannot be followed any more. */
  problem(sentence: string): object;
  /** What stands last. */
  readonly last?: string;
}

/** Sends what is told, until the turn is over or waits; then nothing is followed any more. Who leaves stops nothing. */
export function streamTelling<Piece extends object>(
  context: DoorRequest,
  followed: Followed,
  telling: ToldReader<Piece>,
  { problem, last }: StreamEnd,
): Response {
  return streamSSE(context, async (stream) => {
    const { send, left, sent } = sending(stream);
    try {
      telling.tellTo(send);
      await Promise.race([telling.over, left, followed.gone]);
    } catch (error) {
      send(problem(error instanceof Error ? error.message : String(error)));
    } finally {
      telling.stop();
      followed.client.close();
    }
    await sent();
    if (last !== undefined) await stream.writeSSE({ data: last });
  });
}

/**
 * Writes in order; what nobody reads any more is dropped with the stream. `named`: the type of each names its event. `sent`
 * resolves when all is written or the reader has left: a stream that is closed before would lose what waits.
 */
export function sending(stream: SSEStreamingApi, { named = false } = {}) {
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
      () => {}, // The reader left, which the stream tells.
    );
  };
  return { send, left, sent: () => Promise.race([last, left]) };
}

/**
 * Returns the parent of a message that is said behind this one: the end of the turn that a response begins, and below a summary that
 * stands there, or the line about a message that is too large. Throws `ClientError`.
 */
export function endOf(state: ConversationState, message: string): string {
  const known = state.messages.get(message);
  if (!known)
    throw new ClientError("not-found", `messages: this conversation has no message ${JSON.stringify(message)}.`);
  return belowSummary(state, known.role === "assistant" ? (lastOfRun(state, known.run) ?? message) : message);
}

function belowSummary(state: ConversationState, message: string): string {
  const newest = state.messages.get(state.children.get(message)?.at(-1) ?? "");
  return newest?.role === "summary" && !newest.removed ? belowSummary(state, newest.id) : message;
}

/** What a program says to a question: an answer as `question.answer` takes it, once it has been looked at. */
export interface GivenAnswer {
  readonly question: string;
  readonly answer?: unknown;
}

/**
 * What a program says to questions that are still open. `asking` is the message of the first of these questions, `run` the run
 * whose turn asks it, and `give` gives the answers: the first answer to a question counts, and a program that comes second
 * sees what came of that answer. `tools` are the tools of the program, for a turn that the answer continues. Throws
 * `ClientError` for what is no answer; so does `give` when the turn does not go on.
 */
export function answersTo(
  { client, watched }: Followed,
  answers: readonly GivenAnswer[],
  tools: readonly ClientTool[] = [],
) {
  const { state, id: conversation } = watched;
  const asked = answers.flatMap(({ question }) => state.questions.get(question) ?? []);
  const asking = asked.map(({ message }) => message).find((each) => typeof each === "string");
  const [first] = asked;
  const run = first && askingRuns(state, first).at(-1);
  const open = answers.filter(({ question }) => state.questions.has(question));
  const how = tools.length > 0 ? { tools: [...tools] } : {};
  const commands = open.map(({ question, answer }) => {
    const given = { type: "question.answer", id: createId(), conversation, question, answer, ...how };
    const { command, error } = readCommand(given);
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
