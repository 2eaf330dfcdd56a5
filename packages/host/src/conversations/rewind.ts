import { type ConversationState, createId, type Message, pathTo, type Session } from "@banyan/core";
import { callIn, type FileChange, worktreeAt } from "@banyan/core/conversation";
import {
  type ChangedFile,
  changedFiles,
  type Moment,
  type RewindFile,
  type RewindPlan,
  type RewindScope,
  WorkspaceError,
  type WorkspaceSnapshots,
} from "@banyan/tools/workspace";
import { WorktreeError } from "../worktrees/error.ts";
import { addRestorationMessage, type ChangesContext, type RestorationResult } from "./changes.ts";

/** The snapshots of a conversation's files. */
export interface SnapshotsContext extends Pick<ChangesContext, "redact"> {
  /** `worktree`: its name; absent: the workspace. Rejects with a `WorktreeError` or `WorkspaceError`. */
  snapshotsAt(worktree: string | undefined): Promise<WorkspaceSnapshots>;
}

/** The snapshots of a conversation's files, and git. */
export interface RewindContext extends SnapshotsContext {
  /** Returns how the files of a worktree or the workspace differ from git's last commit. Rejects with a `WorktreeError`. */
  changesSinceCommit(worktree: string | undefined): Promise<readonly FileChange[]>;
}

/**
 * The target of a rewind: the files as they were at a message (`null`: at the root), or before the latest rewind. For a
 * message of another branch: the files after the last call up to this message.
 */
export type RewindTarget = { readonly message: string | null } | "undo";

/** The branch that ends at `leaf`, and the target of a rewind. */
export interface RewindPlace {
  readonly leaf: string;
  readonly to: RewindTarget;
}

/** The branch that ends at `leaf`, and the earlier state. See {@link compareFiles}. */
export interface ComparedPlace {
  readonly leaf: string;
  readonly to: RewindTarget | "turn" | "git";
}

/** A call, user or program that changed a file. See {@link compareFiles}. */
export interface FileChanger {
  /**
   * Kind of the changer. `tool`, `command`: a call of this conversation. `background`: a background command.
   * `restoration`: an undo. `conversation`: another conversation. `others`: a user or another program.
   */
  readonly by: "tool" | "command" | "background" | "restoration" | "conversation" | "others";
  /** The id of the call, for a tool or command. */
  readonly call?: string;
}

/**
 * A file that differs, and the changers of this file in order. There are none if the file changed before the
 * conversation did.
 */
export interface ComparedFile extends Omit<RewindFile, "found" | "origin"> {
  readonly changers: readonly FileChanger[];
}

/** The differences between an earlier state and now. */
export interface WorkspaceComparison extends Pick<RewindPlan, "leftOut"> {
  /** The moment of the comparison. Absent with git's last commit, because no rewind restores that commit. */
  readonly asOf?: number;
  /** The message whose file state is the earlier one; `null` for the root. */
  readonly message: string | null;
  readonly files: readonly ComparedFile[];
}

/**
 * Compares the present files with an earlier state: that of a rewind, the state before the last turn that changed
 * files, or git's last commit. Returns undefined if no file can differ, because no call has changed files since, or
 * because the branch has its own worktree. Rejects with a `WorkspaceError` or `WorktreeError`.
 */
export async function compareFiles(
  session: Pick<Session, "state">,
  context: RewindContext,
  place: ComparedPlace,
): Promise<WorkspaceComparison | undefined> {
  const { leaf, to } = place;
  if (to === "git") return compareWithCommit(session, context, leaf);
  if (to !== "turn") return compareWithEarlier(session, context, { leaf, to });
  const { state } = session;
  const moments = await (await context.snapshotsAt(worktreeAt(state, leaf))).moments(state.id);
  let last: WorkspaceComparison | undefined;
  for (const message of turnStarts(pathTo(state, leaf), changingMessages(state, moments))) {
    const comparison = await compareWithEarlier(session, context, { leaf, to: { message } }, isChangedSince);
    if (comparison?.files.some(({ by }) => by !== "others")) return comparison;
    // Without a change by the agent, the last turn that could change files counts.
    last ??= comparison;
  }
  return last;
}

/** A file that a restoration brought back to a state before the turn is no change of the turn. */
function isChangedSince({ origin }: RewindFile, moment: number): boolean {
  return origin > moment;
}

async function compareWithCommit(
  session: Pick<Session, "state">,
  context: RewindContext,
  leaf: string,
): Promise<WorkspaceComparison> {
  const changes = await context.changesSinceCommit(worktreeAt(session.state, leaf));
  const known = await compareWithEarlier(session, context, { leaf, to: { message: null } });
  const byPath = new Map(known?.files.map((file) => [file.path, file]));
  const files = changes.map((change): ComparedFile => {
    const { by = "others", changers = [] } = byPath.get(change.path) ?? {};
    const entry = (change.mode?.after ?? change.mode?.before) === "120000" ? "link" : "file";
    return { ...change, diff: context.redact(change.diff), entry, by, changers, canRestore: false };
  });
  return { message: null, files, leftOut: [] };
}

async function compareWithEarlier(
  { state }: Pick<Session, "state">,
  context: RewindContext,
  place: RewindPlace,
  isWanted: (file: RewindFile, moment: number) => boolean = () => true,
): Promise<(WorkspaceComparison & Pick<RewindPlan, "asOf">) | undefined> {
  const snapshots = await context.snapshotsAt(worktreeAt(state, place.leaf));
  const rewind = await rewindOf(state, snapshots, place);
  if (!rewind) return undefined;
  const plan = await snapshots.compare(rewind.moment, { ...rewind, watch: context.redact.watch });
  const wanted = plan.files.filter((file) => isWanted(file, rewind.moment));
  const logged = wanted.some(({ by }) => by === "others") ? loggedFiles(state, place) : undefined;
  const files = wanted.map(({ found, origin: _, ...file }): ComparedFile => {
    const call = file.by === "others" ? callThatChanged(file, logged?.get(file.path)) : undefined;
    const own =
      call === undefined
        ? { changers: changersAt(found, state) }
        : ({ changers: [{ by: "tool", call }], by: "agent" } as const);
    return { ...file, ...own, diff: context.redact(file.diff) };
  });
  const { asOf, leftOut } = plan;
  return { asOf, leftOut, files, message: place.to === "undo" ? null : place.to.message };
}

/** Returns the messages before the turns of a path that have snapshots, the last turn first. `null`: the root. */
function turnStarts(path: readonly Message[], changing: ReadonlySet<string>): (string | null)[] {
  const starts = new Set<string | null>();
  let [run, start, last]: [string | undefined, string | null, string | null] = [undefined, null, null];
  for (const message of path) {
    if (message.role === "user") continue;
    if (message.role === "assistant" && message.run !== run) [run, start] = [message.run, last];
    if (changing.has(message.id)) starts.add(start);
    last = message.id;
  }
  return [...starts].reverse();
}

/** The messages of these moments, and those whose calls launched their sub-agents. */
function changingMessages({ messages, calls }: ConversationState, moments: readonly Moment[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { message } of moments) {
    for (let id: string | undefined = message; id !== undefined && !found.has(id); ) {
      found.add(id);
      const call: string | undefined = messages.get(id)?.call;
      id = call === undefined ? undefined : calls.get(call);
    }
  }
  return found;
}

/** The files that calls of the rewound messages changed, as the log has them. */
function loggedFiles(state: ConversationState, { leaf, to }: RewindPlace): ReadonlyMap<string, ChangedFile> {
  if (to === "undo") return new Map();
  const worktree = worktreeAt(state, leaf);
  const files = changedFiles(state, leaf, to.message).filter((file) => file.worktree === worktree);
  return new Map(files.map((file) => [file.path, file]));
}

/** A merge of a sub-agent's files has no snapshots, so a later snapshot finds these changes: the log names the call. */
function callThatChanged({ before, after }: FileChange, logged: ChangedFile | undefined): string | undefined {
  return logged?.before === before && logged.after === after ? logged.changes.at(-1)?.call : undefined;
}

/** Each party once, in the order of its first change. */
function changersAt(found: readonly Moment[], state: ConversationState): FileChanger[] {
  const changers = found.map(({ phase, conversation, call }): FileChanger => {
    if (phase === "before" || phase === "look") return { by: "others" };
    if (conversation !== state.id) return { by: "conversation" };
    if (phase !== "after") return { by: phase === "process" ? "background" : "restoration" };
    return { by: callIn(state, { call })?.about?.command === undefined ? "tool" : "command", call };
  });
  return [...new Map(changers.map((changer) => [`${changer.by} ${changer.call ?? ""}`, changer])).values()];
}

/** Options of a restoration. */
export interface RewindChoice extends RewindPlace {
  /** The moment of the comparison that the user saw before deciding. */
  readonly asOf: number;
  /** The paths to restore. Absent: all files that only the agent changed. */
  readonly paths?: readonly string[] | undefined;
}

/**
 * Restores files, after the background commands of the rewound messages have ended. Logs each restored file that a call
 * had changed. Adds a message for the agent after `leaf`, the last message of the branch.
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
  const plan = await compareWithEarlier(session, context, { leaf, to });
  const chosen =
    paths ?? plan?.files.filter(({ by, canRestore }) => by === "agent" && canRestore).map(({ path }) => path);
  const message = createId();
  const { problems } = await snapshots.restore({ to: rewind.moment, asOf }, scope, new Set(chosen), { leaf, message });
  const changes = (await report(session, context, snapshots)).get(message) ?? [];
  return { changes, problems, ...(session.state.messages.has(message) && { message }) };
}

/**
 * Completes the restorations of a conversation that a dead process left unfinished. Logs them, and adds their messages
 * for the agent. Resolves with sentences for users, also about stores that cannot be used.
 */
export async function settleRewinds(session: Session, context: SnapshotsContext): Promise<string[]> {
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
  context: SnapshotsContext,
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
    // A look during a turn finds changes of running calls.
    isBusy: state.runs.size > 0 || runningCommands(state, messages).length > 0,
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
