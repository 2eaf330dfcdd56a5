import { actionNamed } from "@banyan/client/actions";
import { instructionsRequest, REVIEWER, slashIn } from "@banyan/client/words";
import type { Session } from "@banyan/core";
import { type Directive, newestLeaf, resume, retry, SessionError, say, type UserPart } from "@banyan/core";
import type { LiveRun } from "@banyan/core/conversation";
import {
  expandPrompt,
  expandSlashPrompt,
  goalToRetry,
  listPrompts,
  PromptError,
  type PromptText,
  unfinishedGoal,
  unfinishedMode,
  writtenGoal,
} from "@banyan/host";
import { serversForFirstTurn } from "@banyan/host/mcp";
import type { Command, Result } from "@banyan/protocol";
import type { TurnBeginning } from "../live/beginnings.ts";
import type { LiveConversation } from "../live/live-conversation.ts";
import { AtWorkError, clientProblem, UnfittingAnswerError } from "../request/problem.ts";
import { agentForTurn, openClientTools, type TurnSettings } from "./agent-for.ts";
import {
  type Handlers,
  joinPreparedMessages,
  type PreparedMessage,
  prepareMessage,
  redactedTexts,
  type Workplace,
  withoutSecrets,
} from "./workplace.ts";

/** Handlers of the commands that start and stop turns. */
export const turnHandlers: Handlers<
  | "turn.say"
  | "prompt.say"
  | "message.add"
  | "history.add"
  | "turn.retry"
  | "turn.resume"
  | "turn.hasten"
  | "run.interrupt"
  | "process.stop"
  | "input.edit"
  | "input.withdraw"
> = {
  "turn.say": (command, desk, principal) =>
    sayIn(command, desk, async ({ signal, folder, isDone }) => {
      const { asIs, slash } = command;
      return toSay(desk, command.parts, { principal, signal, folder, asIs, slash: slash && !isDone });
    }),

  "prompt.say": (command, desk, principal) =>
    sayIn(command, desk, async ({ signal, folder, isDone }) => {
      // The prompt's server may be gone by now.
      if (isDone) return { message: withoutSecrets(desk, []) };
      const { prompt: name, argument, values, parts = [] } = command;
      const own = await expandPrompt(desk.host, { name, argument, values }, { signal });
      const how = { principal, signal, folder };
      return {
        message: joinPreparedMessages(await writtenByPrompt(own, desk, how), await prepareMessage(desk, parts, how)),
        model: own.model,
      };
    }),

  async "message.add"(command, desk) {
    const live = await desk.conversations.open(command.conversation);
    const { id } = command;
    const { parts } = withoutSecrets(desk, command.parts);
    return live.whileBeginning(async () => {
      const waits = await deliverToRun(command, parts, live, (at) => live.session.add(parts, { at, id }));
      return { message: id, waits };
    });
  },

  async "history.add"({ conversation, id, messages, at }, desk) {
    const live = await desk.conversations.open(conversation);
    const clean = messages.map((message) => redactedTexts(desk, message));
    return live.whileBeginning(async () => ({ message: await live.session.addHistory(clean, { at, id }) }));
  },

  async "turn.retry"(command, desk, principal) {
    using beginning = desk.beginnings.of(command);
    const live = await desk.conversations.open(command.conversation);
    const { id, parts, at, slash } = command;
    // Another answer to the same message has the same goal.
    const goal = command.goal ?? (parts ? undefined : goalToRetry(live.session.state, at));
    return await live.whileBeginning(async () => {
      const signal = AbortSignal.any([desk.signal, beginning.interruption]);
      const folder = await folderFor(command, live, desk);
      const how = { principal, signal, folder, slash: slash && !isDone(live, id) };
      const { message, model = command.model } = await toSay(desk, parts ?? [], how);
      const directive = parts ? retry(message.parts) : retry();
      if (!isDone(live, id)) {
        mustHaveChanges(command, message);
        await beginTurn({ ...command, model, goal }, directive, at, { live, beginning, desk });
      }
      return { ...(parts ? { message: id } : {}), ...message.told };
    });
  },

  async "turn.resume"(command, desk) {
    using beginning = desk.beginnings.of(command);
    const live = await desk.conversations.open(command.conversation);
    const { id, at, mode = unfinishedMode(live.session, at), goal = unfinishedGoal(live.session.state, at) } = command;
    if (!isDone(live, id)) {
      await live.whileBeginning(() => beginTurn({ ...command, mode, goal }, resume(), at, { live, beginning, desk }));
    }
    return {};
  },

  "turn.hasten"({ conversation, run }, { beginnings }) {
    return { hastened: beginnings.hasten(conversation, run) };
  },

  async "run.interrupt"({ conversation, run }, { conversations, beginnings }) {
    const before = beginnings.interrupt(conversation, run);
    const isWaiting = async () =>
      (await conversations.list({ conversations: [conversation] })).some(({ waiting }) => waiting > 0);
    // A waiting turn may be in a conversation that is not open.
    const live =
      conversations.ifOpen(conversation) ?? ((await isWaiting()) ? await conversations.open(conversation) : undefined);
    return { interrupted: before + (live?.session.interrupt(run) ?? 0) };
  },

  async "process.stop"({ conversation, process }, { conversations }) {
    await (await conversations.open(conversation)).session.processes.stop(process);
    return {};
  },

  async "input.edit"({ conversation, input, parts, delivery, before, run }, desk, principal) {
    const live = await desk.conversations.open(conversation);
    const { session } = live;
    const folder = await folderFor({ run: session.state.inbox.find((each) => each.id === input)?.run }, live, desk);
    const message = await prepareMessage(desk, parts ?? [], { principal, signal: desk.signal, folder });
    await session.editInput(input, {
      ...(parts === undefined ? {} : { parts: message.parts }),
      ...(delivery === undefined ? {} : { delivery }),
      ...(before === undefined ? {} : { before }),
      ...(run === undefined ? {} : { run }),
    });
    return message.told;
  },

  async "input.withdraw"({ conversation, input }, { conversations }) {
    await (await conversations.open(conversation)).session.withdrawInput(input);
    return {};
  },
};

/** With `slash`, the first text may call a prompt. */
async function toSay(
  desk: Workplace,
  parts: readonly UserPart[],
  { asIs, slash, ...how }: Parameters<typeof prepareMessage>[2] & Pick<Command<"turn.say">, "asIs" | "slash">,
): Promise<MessageForModel> {
  const clean = async (some: readonly UserPart[]) =>
    asIs ? withoutSecrets(desk, some) : await prepareMessage(desk, some, how);
  const [first, ...others] = parts;
  const own = slash && first?.type === "text" ? await saidBySlash(desk, first.text, how.signal) : undefined;
  if (!own) return { message: await clean(parts) };
  return {
    message: joinPreparedMessages(await writtenByPrompt(own, desk, how), await clean(others)),
    model: own.model,
  };
}

/** Expands `/name` at the start of a message (C18): a prompt, or `/init`. Rejects with `PromptError` for others. */
async function saidBySlash({ host }: Workplace, text: string, signal: AbortSignal): Promise<PromptText | undefined> {
  // An agent without a workspace has no prompts: its users may write any text.
  const asked = host.workspace === undefined ? undefined : slashIn(text);
  if (!asked) return undefined;
  const action = actionNamed(asked.name);
  const isPrompt = async (name: string) =>
    (await listPrompts(host, 0, signal)).prompts.some((each) => each.name === name);
  if (!action || (await isPrompt(asked.name.toLowerCase()))) return expandSlashPrompt(host, text, { signal });
  if (action.name === "init")
    return { parts: [{ type: "text", text: instructionsRequest(asked.argument) }], asIs: false };
  const where = "in a terminal, in an editor or on the page";
  throw new PromptError(`Use /${action.name} ${where}. To send this as text, start with a space.`);
}

/** Attaches files that a prompt names with `@`, except if an MCP server provides the prompt. */
async function writtenByPrompt(
  { parts, asIs }: PromptText,
  desk: Workplace,
  how: Parameters<typeof prepareMessage>[2],
): Promise<PreparedMessage> {
  return asIs ? withoutSecrets(desk, parts) : prepareMessage(desk, parts, how);
}

interface MessageForModel {
  readonly message: PreparedMessage;
  readonly model?: string | undefined;
}

/** Sends a message to the named run, or starts a turn. */
async function sayIn(
  command: MessageTarget & TurnSettings & { readonly conversation: string },
  desk: Workplace,
  inWords: (how: {
    readonly signal: AbortSignal;
    readonly folder: string;
    readonly isDone: boolean;
  }) => Promise<MessageForModel>,
): Promise<Result<"turn.say">> {
  using beginning = desk.beginnings.of(command);
  const live = await desk.conversations.open(command.conversation);
  return await live.whileBeginning(async () => {
    const signal = AbortSignal.any([desk.signal, beginning.interruption]);
    const folder = await folderFor(command, live, desk);
    const { message, model = command.model } = await inWords({ signal, folder, isDone: isDone(live, command.id) });
    if (!isDone(live, command.id)) mustHaveChanges(command, message);
    const said = isDone(live, command.id) ? message.parts : await desk.host.hooks.prompt(live.session, message.parts);
    const waits = await deliverToRun(command, said, live, (at) =>
      beginTurn({ ...command, model }, say(said), at ?? undefined, { live, beginning, desk }),
    );
    return { message: command.id, waits, ...message.told };
  });
}

/** Throws if there are no changes to review: the model call would only cost money. */
function mustHaveChanges({ agent }: { readonly agent?: string | undefined }, { told }: PreparedMessage): void {
  const isLacking = told.problems.length > 0 && !told.attached.some(({ kind }) => kind === "diff");
  if (agent === REVIEWER && isLacking)
    throw new UnfittingAnswerError(`There is nothing to review. ${told.problems.join(" ")}`);
}

type MessageTarget = Pick<Command<"message.add">, "id" | "at" | "run"> & Pick<Command<"turn.say">, "delivery">;

/** Sends a message to its run. Without a run, `otherwise` adds the message. Returns whether the message waits. */
async function deliverToRun(
  command: MessageTarget,
  parts: readonly UserPart[],
  live: LiveConversation,
  otherwise: (at: string | null | undefined) => Promise<unknown>,
): Promise<boolean> {
  const { session } = live;
  const { id, delivery = "steer" } = command;
  if (isDone(live, id)) return session.state.inbox.some((input) => input.id === id);
  const run = hearer(command, live);
  // No process would deliver an interrupting message to a waiting turn: the message begins the next turn instead.
  const isOver = run !== undefined && delivery === "interrupt" && session.state.waiting.has(run);
  if (isOver) session.interrupt(run);
  if (run !== undefined && !isOver) {
    try {
      await session.say(parts, { run, delivery, id });
      return true;
    } catch (error) {
      // The run has just ended: the message follows it.
      if (!(error instanceof SessionError && error.code === "no-run")) throw error;
    }
  }
  const place =
    command.run !== undefined && typeof command.at === "string" ? newestLeaf(session.state, command.at) : command.at;
  try {
    await otherwise(place);
    return false;
  } catch (error) {
    // Another turn has begun there and gets the message.
    const other = error instanceof AtWorkError ? hearer({ at: place }, live) : undefined;
    if (other === undefined) throw error;
    return deliverToRun({ ...command, run: other }, parts, live, otherwise);
  }
}

/** Rejects with `WorktreeError` if the branch's folder is gone. */
function folderFor(
  { run, at }: { readonly run?: string | null | undefined; readonly at?: string | null | undefined },
  { session: { state } }: LiveConversation,
  { host }: Workplace,
): Promise<string> {
  const leaf = at === undefined ? state.leaf : at;
  return host.worktrees.folderAt(state, run == null ? leaf : (state.runs.get(run)?.leaf ?? leaf));
}

/** The named run, or the run that ends at the message's place. The run may wait for a user. */
function hearer({ run, at }: Pick<MessageTarget, "run" | "at">, { session }: LiveConversation): string | undefined {
  const { runs, waiting, leaf } = session.state;
  if (run !== undefined) return runs.has(run) || waiting.has(run) ? run : undefined;
  return [...runs.values(), ...waiting.values()].find((live) => live.leaf === (at === undefined ? leaf : at))?.id;
}

/** Begins a turn. Resolves when the turn is in the log. */
export async function beginTurn(
  command: TurnSettings & Pick<Command, "id">,
  directive: Directive,
  at: string | undefined,
  {
    live,
    beginning,
    desk,
  }: { readonly live: LiveConversation; readonly beginning: TurnBeginning; readonly desk: Workplace },
): Promise<void> {
  const { mcp } = await desk.host.ready();
  // Disposed of when the turn has begun.
  using wait = new TurnWait(live.session, command.id);
  if (mcp) {
    const signal = AbortSignal.any([desk.signal, beginning.patience]);
    wait.missing = await serversForFirstTurn(mcp, { signal, waiting: (sentence) => wait.tell(sentence) });
  }
  const agent = await agentForTurn(desk, live, command, at ?? live.session.state.leaf);
  await desk.chats.begin(live.session, { agent, directive, at, id: command.id, client: desk.client }, beginning);
}

/**
 * Continues a turn that waited for a user although its process had ended (F72), with the turn's own agent and mode.
 * `id`: the id of the new run. If the turn cannot continue, returns the reason.
 */
export function continueTurn(
  live: LiveConversation,
  desk: Workplace,
  turn: LiveRun,
  { id, tools = [] }: Pick<Command<"question.answer">, "id" | "tools">,
): Promise<string | undefined> {
  return live.onceFor(turn.id, async () => {
    using beginning = desk.beginnings.of({ conversation: live.session.id, id });
    try {
      const { agents = [] } = await desk.host.ready();
      const agent = agents.some(({ name }) => name === turn.agent) ? turn.agent : undefined;
      const goal = writtenGoal(turn.goal);
      const how = {
        id,
        agent,
        goal,
        mode: turn.mode,
        tools: [...tools, ...openClientTools(live.session.state, tools)],
      };
      await live.whileBeginning(() => beginTurn(how, resume(), turn.leaf ?? undefined, { live, beginning, desk }));
      return undefined;
    } catch (error) {
      // Another run continues the turn already.
      if (error instanceof AtWorkError) return undefined;
      return `Your answer is saved, but the turn does not continue by itself: ${clientProblem(error)?.message ?? desk.told(error)}`;
    }
  });
}

/**
 * Returns whether a command is already in the log, because the client sent it before, perhaps to a server that is dead
 * now (B59).
 */
export function isDone({ session }: LiveConversation, id: string): boolean {
  const { messages, inbox, runs } = session.state;
  if (messages.has(id) || runs.has(id) || inbox.some((input) => input.id === id)) return true;
  return messages.values().some((message) => message.role === "assistant" && message.run === id);
}

/** Milliseconds between repeated notices, for clients that connect later. */
const AGAIN = 5_000;

/** Tells watching clients which servers a turn waits for, and when the wait ends. */
class TurnWait implements Disposable {
  readonly #session: Session;
  readonly #command: string;
  #telling: NodeJS.Timeout | undefined;
  /** Servers that are missing at the end of the wait, in sentences. */
  missing: readonly string[] = [];

  /** `command`: the id of the turn's command. */
  constructor(session: Session, command: string) {
    this.#session = session;
    this.#command = command;
  }

  tell(sentence: string): void {
    const tell = () => this.#notify(true, sentence);
    clearInterval(this.#telling);
    this.#telling = setInterval(tell, AGAIN);
    tell();
  }

  /** Without a report and without missing servers, clients get nothing. */
  [Symbol.dispose](): void {
    if (this.#telling === undefined && this.missing.length === 0) return;
    clearInterval(this.#telling);
    this.#notify(false, this.missing.join(" "));
  }

  #notify(waits: boolean, reason: string): void {
    this.#session.notify({ type: "turn.waiting", command: this.#command, waits, reason });
  }
}
