import { describeBrokenTurn } from "@banyan/client/words";
import {
  type AssistantMessage,
  type ConversationState,
  type Cost,
  type Event,
  type Message,
  newestLeaf,
  pathTo,
  type RunEnd,
  textOf,
  type Usage,
  usageOnPath,
} from "@banyan/core";
import { lastAssistantMessage, siblings, standingLeaf, worktreeAt } from "@banyan/core/conversation";
import { cutTo } from "@banyan/core/shown";
import { changedFiles } from "@banyan/tools/workspace";
import { WorktreeError } from "./error.ts";
import type { WorktreeFile } from "./repository.ts";
import { runTimes } from "./run-times.ts";
import type { Worktrees } from "./worktrees.ts";

/** One of several branches with a common parent message, for a comparison. */
export interface ComparedBranch {
  readonly first: string;
  readonly leaf: string;
  /** The label, worktree, user message (if it differs), or model of the branch. */
  readonly name: string;
  /** The models that answered on the branch. */
  readonly models: readonly string[];
  readonly worktree?: string;
  /** How the last turn of the branch ended, or its current state. */
  readonly outcome: RunEnd | "working" | "waiting" | "unasked";
  /** The reason that the branch has no answer, or a problem with its files, as a sentence. */
  readonly problem?: string;
  /** Duration of the turns in milliseconds, without waiting for users; absent if unknown. */
  readonly time?: number;
  readonly usage: Usage;
  readonly cost: Cost;
  /** Files that differ from those at the fork. */
  readonly files: readonly Pick<WorktreeFile, "path" | "kind" | "added" | "removed">[];
  /** The beginning of the last answer. */
  readonly said: string;
}

const EXCERPT = 600;
const NAME = 60;

/** Returns the nearest message above `leaf` that has several children, if any. */
export function forkAbove(state: ConversationState, leaf: string | null): string | null | undefined {
  const below = (id: string | null) =>
    (state.children.get(id) ?? []).filter((child) => standingLeaf(state, child) === child);
  for (let id = leaf; ; ) {
    if (below(id).length > 1) return id;
    if (id === null) return undefined;
    id = state.messages.get(id)?.parentId ?? null;
  }
}

/** Compares the branches below a message (C8), oldest first. `events`: their log, for the time. */
export async function compareBranches(
  state: ConversationState,
  worktrees: Worktrees,
  { at, events = [] }: { readonly at: string | null; readonly events?: Iterable<Event> | undefined },
): Promise<readonly ComparedBranch[]> {
  const [first] = (state.children.get(at) ?? []).filter((child) => standingLeaf(state, child) === child);
  if (first === undefined) return [];
  const runs = runTimes(events);
  const begins = siblings(state, first);
  const names = begins.map((id) => textBeginning(questionBelow(state, id), NAME));
  const isOneQuestion = new Set(names).size === 1;
  return Promise.all(
    begins.map(async (begun, index): Promise<ComparedBranch> => {
      const leaf = newestLeaf(state, begun);
      const own = pathTo(state, leaf).slice(pathTo(state, at).length);
      const responses = own.filter((message): message is AssistantMessage => message.role === "assistant");
      const models = [...new Set(responses.map(({ model }) => model))];
      const worktree = worktreeAt(state, leaf);
      const isOwn = worktree !== undefined && worktree !== worktreeAt(state, at);
      const { files, problem } = await comparedFiles(state, worktrees, {
        at,
        leaf,
        worktree: isOwn ? worktree : undefined,
      });
      const ids = new Set(own.map(({ id }) => id));
      const ofBranch = runs.filter(({ leaves }) => leaves.some((id) => ids.has(id)));
      const stood = standingOf(state, ids, ofBranch.at(-1)?.reason);
      const why = stood.problem ?? problem;
      return {
        first: begun,
        leaf,
        models,
        files,
        ...usageOnPath(own),
        outcome: stood.outcome,
        name:
          own.find(({ label }) => label !== undefined)?.label ??
          worktree ??
          ((!isOneQuestion && names[index]) || models[0] || begun),
        ...(worktree !== undefined && { worktree }),
        ...(ofBranch.length > 0 && { time: ofBranch.reduce((sum, { time }) => sum + time, 0) }),
        ...(why !== undefined && { problem: why }),
        said: textBeginning(lastAssistantMessage(own), EXCERPT),
      };
    }),
  );
}

async function comparedFiles(
  state: ConversationState,
  worktrees: Worktrees,
  { at, leaf, worktree }: { readonly at: string | null; readonly leaf: string; readonly worktree: string | undefined },
): Promise<Pick<ComparedBranch, "files" | "problem">> {
  if (worktree === undefined) {
    const files = changedFiles(state, leaf, at);
    return { files: files.map(({ path, kind, added, removed }) => ({ path, kind, added, removed })) };
  }
  try {
    const { files } = await worktrees.changes(worktree, state.id);
    return { files: files.map(({ path, kind, added, removed }) => ({ path, kind, added, removed })) };
  } catch (error) {
    if (!(error instanceof WorktreeError)) throw error;
    return { files: [], problem: error.message };
  }
}

/** By questions, runs and last turn. */
function standingOf(
  state: ConversationState,
  own: ReadonlySet<string>,
  last: RunEnd | undefined,
): Pick<ComparedBranch, "outcome" | "problem"> {
  for (const { message } of state.questions.values())
    if (message !== null && own.has(message)) return { outcome: "waiting" };
  for (const { leaf } of state.runs.values()) if (leaf !== null && own.has(leaf)) return { outcome: "working" };
  for (const [message, broken] of state.broken)
    if (own.has(message)) return { outcome: broken.reason, problem: describeBrokenTurn(broken).why };
  return { outcome: last ?? (own.size > 1 ? "answered" : "unasked") };
}

/** The program itself may write the first message, about a git worktree (W90). */
function questionBelow(state: ConversationState, first: string): Message | undefined {
  return pathTo(state, newestLeaf(state, first))
    .slice(pathTo(state, first).length - 1)
    .find((message) => message.role !== "user" || message.author !== "system");
}

function textBeginning(message: Message | undefined, length: number): string {
  return message ? cutTo(textOf(message).trim(), length) : "";
}
