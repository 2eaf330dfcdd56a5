import { type ConversationState, createId, type Message, pathTo, type Session } from "@banyan/core";
import { type FileChange, worktreeAt } from "@banyan/core/conversation";
import {
  type Moment,
  type RewindPlan,
  type RewindScope,
  WorkspaceError,
  type WorkspaceSnapshots,
} from "@banyan/tools/workspace";
import { WorktreeError } from "../worktrees/error.ts";
import { addRestorationMessage, type ChangesContext, type RestorationResult } from "./changes.ts";

/** The snapshots of a conversation's files. */
export interface RewindContext extends Pick<ChangesContext, "redact"> {
  /** `worktree`: its name; absent: the workspace. Rejects with a `WorktreeError` or `WorkspaceError`. */
  snapshotsAt(worktree: string | undefined): Promise<WorkspaceSnapshots>;
}

/**
 * Where a rewind leads: to the files of a message (`null`: of the root), or before the latest rewind. The files of a
 * message on another branch are those after the last call down to this message.
 */
export type RewindTarget = { readonly message: string | null } | "undo";

/** The branch that ends at `leaf`, and where a rewind leads. */
export interface RewindPlace {
  readonly leaf: string;
  readonly to: RewindTarget;
}

/**
 * Compares the files as they are with the files at a message, or before an earlier rewind. Returns undefined if no file
 * can differ: no call has changed files since, or the branch has its own worktree. Rejects with a `WorkspaceError` or
 * `WorktreeError`.
 */
export async function compareFiles(
  { state }: Pick<Session, "state">,
  context: RewindContext,
  place: RewindPlace,
): Promise<RewindPlan | undefined> {
  const snapshots = await context.snapshotsAt(worktreeAt(state, place.leaf));
  const rewind = await rewindOf(state, snapshots, place);
  if (!rewind) return undefined;
  const scope = { ...rewind, watch: context.redact.watch };
  const plan = await snapshots.compare(rewind.moment, scope);
  return { ...plan, files: plan.files.map((file) => ({ ...file, diff: context.redact(file.diff) })) };
}

/** Options of a restoration. */
export interface RewindChoice extends RewindPlace {
  /** The moment of the comparison that the user saw. */
  readonly asOf: number;
  /** Absent: all files that only the agent changed. */
  readonly paths?: readonly string[] | undefined;
}

/**
 * Restores files, after the background commands of the rewound messages have ended. Logs each change of a file that a
 * call had changed. Adds a message for the agent below `leaf`: the branch has the calls that changed the files.
 */
export async function rewindFiles(
  session: Session,
  context: RewindContext,
  { leaf, to, asOf, paths }: RewindChoice,
): Promise<RestorationResult> {
  const { state } = session;
  const snapshots = await context.snapshotsAt(worktreeAt(state, leaf));
  const rewind = await rewindOf(state, snapshots, { leaf, to });
  if (!rewind) return { changes: [], problems: [] };
  await stopProcesses(session, rewind);
  const scope = { ...rewind, watch: context.redact.watch };
  const plan = await snapshots.compare(rewind.moment, scope);
  const chosen =
    paths ?? plan.files.filter(({ by, canRestore }) => by === "agent" && canRestore).map(({ path }) => path);
  const message = createId();
  const { problems } = await snapshots.restore({ to: plan.to, asOf }, scope, new Set(chosen), { leaf, message });
  const changes = (await report(session, context, snapshots)).get(message) ?? [];
  return { changes, problems, ...(session.state.messages.has(message) && { message }) };
}

/**
 * Completes the restorations of a conversation that a dead process left, logs them, and adds their messages for the agent.
 * Resolves with sentences for users, also about stores that cannot be used.
 */
export async function settleRewinds(session: Session, context: RewindContext): Promise<string[]> {
  const { messages } = session.state;
  const worktrees = messages.values().map((message) => (message.role === "user" ? message.worktree : undefined));
  const sentences: string[] = [];
  for (const worktree of new Set([undefined, ...worktrees])) {
    try {
      const snapshots = await context.snapshotsAt(worktree);
      sentences.push(...(await snapshots.settle()));
      await report(session, context, snapshots);
    } catch (error) {
      if (error instanceof WorkspaceError) sentences.push(error.message);
      // A worktree that was removed has no files to restore.
      else if (!(error instanceof WorktreeError)) throw error;
    }
  }
  return sentences;
}

/**
 * Logs restorations, and adds their messages. If the process dies meanwhile, the next call repeats nothing. Returns the
 * changes by message.
 */
async function report(
  session: Session,
  context: RewindContext,
  snapshots: WorkspaceSnapshots,
): Promise<ReadonlyMap<string, FileChange[]>> {
  const byMessage = new Map<string, FileChange[]>();
  for (const restoration of await snapshots.reports(session.id)) {
    const { leaf, message, files } = restoration;
    const changes = files.map((change) => ({ ...change, diff: context.redact(change.diff) }));
    for (const change of changes) await logChange(session, leaf, change);
    const shown = changes.filter(({ mode }) => !isFolder(mode?.before) && !isFolder(mode?.after));
    // A power cut may have lost the end of the log.
    if (shown.length > 0 && session.state.messages.has(leaf))
      await addRestorationMessage(session, leaf, shown, message);
    await snapshots.reported(restoration);
    byMessage.set(message, changes);
  }
  return byMessage;
}

function isFolder(mode: string | null | undefined): boolean {
  return mode?.startsWith("04") ?? false;
}

/** The moment of a rewind, and the messages whose changes it takes back; without messages, all of the conversation. */
interface ConversationRewind extends RewindScope {
  readonly moment: number;
  readonly messages: ReadonlySet<string> | undefined;
}

/** Returns undefined if no call has changed files since. */
async function rewindOf(
  state: ConversationState,
  snapshots: WorkspaceSnapshots,
  { leaf, to }: RewindPlace,
): Promise<ConversationRewind | undefined> {
  const moments = await snapshots.moments(state.id);
  const { messages, moment } =
    to === "undo" ? { messages: undefined, moment: beforeMoment(moments) } : aimOf(state, moments, leaf, to.message);
  if (moment === undefined) return undefined;
  return {
    moment,
    messages,
    conversation: state.id,
    isOwn: ({ conversation, message, phase }) =>
      conversation === state.id &&
      ((messages?.has(message) ?? true) || (message === "" && (phase === "rewind" || phase === "process"))),
    isBusy: runningCommands(state, messages).length > 0,
  };
}

function runningCommands({ processes }: ConversationState, messages: ReadonlySet<string> | undefined) {
  return [...processes.values()].filter(
    ({ message, outcome }) => outcome === undefined && (messages?.has(message) ?? true),
  );
}

async function stopProcesses({ state, processes }: Session, { messages }: ConversationRewind): Promise<void> {
  for (const { id } of runningCommands(state, messages))
    await processes.stop(id, "a user went back to earlier files").catch(() => {
      // The command has ended meanwhile.
    });
}

/**
 * Logs a restoration as a change of the call that last changed the file, so that lists of changed files stay true. Files
 * that only commands changed are in no such list.
 */
async function logChange(session: Session, leaf: string, change: FileChange): Promise<void> {
  const { state } = session;
  const worktree = worktreeAt(state, leaf);
  let call: string | undefined;
  for (const message of state.messages.values()) {
    if (message.role !== "assistant" || worktreeAt(state, message.id) !== worktree) continue;
    for (const { id, changes } of message.calls)
      if (changes?.findLast(({ path }) => path === change.path)?.after === change.before) call = id;
  }
  if (call !== undefined) await session.notes.fileChange(call, change);
}

/** A restoration records the moment before its own. */
function beforeMoment(moments: readonly Moment[]): number | undefined {
  const at = moments.findLastIndex(({ phase }) => phase === "rewind");
  return moments[at - 1]?.id;
}

/** Returns the moment of a message's files, and the messages whose changes lead away from these files. */
function aimOf(
  state: ConversationState,
  moments: readonly Moment[],
  leaf: string,
  to: string | null,
): { readonly messages: ReadonlySet<string>; readonly moment: number | undefined } {
  const [path, aim] = [pathTo(state, leaf), pathTo(state, to)];
  const [left, kept] = [path, aim].map((each) => new Set(each.map(({ id }) => id))) as [Set<string>, Set<string>];
  // Each worktree has its own snapshots.
  if (worktreeAt(state, to) === worktreeAt(state, leaf)) {
    const beside = idsWithSubAgents(
      state,
      aim.filter(({ id }) => !left.has(id)),
    );
    const last = moments.findLast(({ message }) => beside.has(message));
    const stays = idsWithSubAgents(state, aim);
    if (last) return { moment: last.id, messages: new Set(state.messages.keys()).difference(stays) };
  }
  const messages = idsWithSubAgents(
    state,
    path.filter(({ id }) => !kept.has(id)),
  );
  return { messages, moment: moments.find(({ message }) => messages.has(message))?.id };
}

/** The ids of messages, and of the messages of sub-agents that their calls launched. */
function idsWithSubAgents(state: ConversationState, messages: Iterable<Message>): ReadonlySet<string> {
  const calls = new Set<string>();
  const found = new Set<string>();
  const add = (message: Message) => {
    found.add(message.id);
    if (message.role === "assistant") for (const { id } of message.calls) calls.add(id);
  };
  for (const message of messages) add(message);
  // A sub-agent's messages are later than the call that launched it.
  for (const message of state.messages.values())
    if (message.call !== undefined && calls.has(message.call) && !found.has(message.id)) add(message);
  return found;
}
