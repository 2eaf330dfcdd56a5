import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import {
  type Agent,
  type ConversationState,
  type ModelDriver,
  pathTo,
  type Session,
  type Tool,
  type Turn,
  textOf,
} from "@banyan/core";
import { isUserMessage, lastAssistantMessage, worktreeAt } from "@banyan/core/conversation";
import { cutTo, visibleLine } from "@banyan/core/shown";
import type { EnvironmentVariables } from "@banyan/models";
import {
  type BringOptions,
  entryAt,
  isLink,
  locateEntry,
  type MergedText,
  openWorkspace,
  type ReadRefusal,
  WorkspaceError,
} from "@banyan/tools/workspace";
import { git } from "../programs/git.ts";
import { SUBMODULE } from "./repository.ts";
import type { Worktrees } from "./worktrees.ts";

/** Maximum characters of the source branch's last answer in the message. */
const LONGEST = 8_000;
/** Milliseconds. */
const PATIENCE = 20_000;

/** The content that one branch brings to another. */
export interface BranchHandover {
  /** A message that names the source branch, and quotes its request and answer. */
  readonly text: string;
  /** The source worktree and its changed files; absent if both branches work in the same files. */
  readonly patch?: { readonly from: string; readonly files: readonly string[] };
  /** Changes that cannot be brought, as sentences. */
  readonly problems: readonly string[];
}

/** Returns the message and files that branch `from` (a leaf) brings to branch `to`. Rejects with `WorktreeError`. */
export async function branchHandover(
  state: ConversationState,
  worktrees: Worktrees,
  { from, to }: { readonly from: string; readonly to: string | null },
): Promise<BranchHandover> {
  const name = worktreeAt(state, from);
  const isElsewhere = name !== undefined && name !== worktreeAt(state, to);
  const { files } = isElsewhere ? await worktrees.changes(name, state.id) : { files: [] };
  const { prefix } = await worktrees.repository().catch(() => ({ prefix: "" }));
  const inside = files.filter(({ path }) => path.startsWith(prefix));
  const taken = inside.filter(({ mode }) => mode !== SUBMODULE).map(({ path }) => path.slice(prefix.length));
  const left = files.filter(({ path, mode }) => !path.startsWith(prefix) || mode === SUBMODULE);
  const { top } = name === undefined || left.length === 0 ? { top: "" } : await worktrees.find(name, state.id);
  const problems = left.map(({ path, mode }) => {
    const why =
      mode === SUBMODULE
        ? `a submodule. Commit in it there, then run here: git -C ${path} fetch ${join(top, path)} HEAD && git -C ${path} checkout FETCH_HEAD`
        : `outside of the workspace. Copy ${join(top, path)} by hand.`;
    return `${path} is not brought over: it is ${why}`;
  });
  const text = broughtBranchText(state, { from, to, name, count: taken.length });
  return { text, problems, ...(taken.length > 0 && name !== undefined && { patch: { from: name, files: taken } }) };
}

function broughtBranchText(
  state: ConversationState,
  {
    from,
    to,
    name,
    count,
  }: { readonly from: string; readonly to: string | null; readonly name: string | undefined; readonly count: number },
): string {
  const shared = new Set(pathTo(state, to).map(({ id }) => id));
  const own = pathTo(state, from).filter(({ id }) => !shared.has(id));
  const question = own.find(isUserMessage);
  const response = lastAssistantMessage(own);
  const called = own.find(({ label }) => label !== undefined)?.label ?? name;
  const what = called === undefined ? "" : ` “${visibleLine(called)}”`;
  const by = response === undefined ? "" : ` by ${response.model}`;
  const files = count === 1 ? "The file that it changed is" : `The ${count} files that it changed are`;
  const changes = count === 0 ? "" : ` ${files} brought over next.`;
  return [
    `Brought over from the branch${what} of this conversation${by}, as of the message ${from}.${changes}`,
    ...(question ? [`Question on that branch:\n${cutTo(textOf(question), LONGEST, " […]")}`] : []),
    ...(response ? [`Result:\n${cutTo(textOf(response), LONGEST, " […]") || "(no text)"}`] : []),
  ].join("\n\n");
}

/**
 * Returns an agent that makes a single call, which brings files over. Rules and users judge this call like any other.
 */
export function bringingAgent(agent: Agent, tool: Tool, patch: NonNullable<BranchHandover["patch"]>): Agent {
  return agent.with({
    model: bringing(tool.name, patch),
    tools: [tool],
    mode: "chat",
    instructions: "",
    memory: undefined,
    fallbacks: undefined,
    onTurn: undefined,
    compaction: undefined,
  });
}

/** A scripted model that makes the call and then reports the result. */
function bringing(tool: string, { from, files }: NonNullable<BranchHandover["patch"]>): ModelDriver {
  const usage = { input: 0, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 };
  return {
    id: "banyan/bring",
    family: "bring",
    price: { input: 0, output: 0 },
    async stream({ messages }, sink) {
      const last = messages.at(-1);
      const result = last?.role === "assistant" ? last.results.at(-1) : undefined;
      if (!result) {
        const text = JSON.stringify({ from, files });
        sink.push([
          { type: "call", index: 0, id: "", tool },
          { type: "call-input", index: 0, text },
          { type: "call-end", index: 0 },
          { type: "finish", reason: "calls", usage },
        ]);
        return;
      }
      const text = result.failed
        ? `Nothing was brought over from ${from}.`
        : `Brought over from ${from}:\n\n${result.output}`;
      sink.push([
        { type: "text", text },
        { type: "finish", reason: "stop", usage },
      ]);
    },
  };
}

/**
 * Brings the outcome of one branch to another (C8): adds a message, and brings the changes of its worktree by a tool
 * call, which `/undo` reverts. Resolves with the message, and the call's turn if files changed. Rejects with a
 * `WorktreeError` or `SessionError`.
 * @example
 * const { bring: tool } = await host.ready();
 * await bring(session, { agent: host.agent, worktrees: host.worktrees, tool, from: leaf, to: session.state.leaf ?? leaf
 * });
 */
export async function bring(
  session: Session,
  {
    agent,
    worktrees,
    tool,
    from,
    to,
  }: {
    readonly agent: Agent;
    readonly worktrees: Worktrees;
    readonly tool: Tool;
    readonly from: string;
    readonly to: string;
  },
): Promise<{ readonly turn?: Turn; readonly problems: readonly string[] }> {
  const { text, patch, problems } = await branchHandover(session.state, worktrees, { from, to });
  if (!patch) {
    await session.add(text, { at: to });
    return { problems };
  }
  const turn = await bringingAgent(agent, tool, patch).send(text, { session, at: to });
  return { turn, problems };
}

/** Returns options for the tool `bring_over`: functions that read files of the source branch and merge texts. */
export function bringOptions(
  worktrees: Worktrees,
  { env, whyNotReadIn }: { readonly env: EnvironmentVariables; whyNotReadIn(folder: string): ReadRefusal | undefined },
): Pick<BringOptions, "incoming" | "merge"> {
  return {
    async incoming(from, path, { conversation }) {
      const repository = await worktrees.repository();
      const { top } = await worktrees.find(from, conversation.id);
      const folder = resolve(top, repository.prefix);
      const base = await repository.base(top);
      if (base === undefined) throw new WorkspaceError("missing", `the worktree ${from} is incomplete.`);
      const workspace = openWorkspace(folder, [], whyNotReadIn(folder));
      const location = await locateEntry(workspace, path);
      if (location.path !== path)
        throw new WorkspaceError("path", `it leads to ${location.path} in ${from}. Name that.`);
      const file = await repository.baseFile(top, base, `${repository.prefix}${path}`);
      const why = location.kind === "missing" ? undefined : workspace.whyNotRead?.(location.path, path);
      if (why !== undefined) throw new WorkspaceError("refused", `it is not read: ${why}`);
      const there = await entryAt(workspace, location);
      // Without a base version, unusual permissions count as the file's own.
      const usual = repository.checkedOutMode(top, file?.mode ?? "100644");
      return { there, base: file, hasOwnMode: there !== undefined && !isLink(there) && there.mode !== usual };
    },
    merge: (texts, from) => mergeTexts(texts, from, env),
  };
}

async function mergeTexts(
  { base, here, there }: Parameters<BringOptions["merge"]>[0],
  from: string,
  env: EnvironmentVariables,
): Promise<MergedText> {
  const folder = await mkdtemp(join(tmpdir(), "banyan-merge-"));
  try {
    const files = await Promise.all(
      Object.entries({ here, base, there }).map(async ([name, text]) => {
        await writeFile(join(folder, name), text, { mode: 0o600 });
        return name;
      }),
    );
    const args = ["merge-file", "-p", "--diff3", "-L", "here", "-L", "before", "-L", from, ...files];
    const said = git(args, { cwd: folder, sandbox: undefined, env, timeout: PATIENCE, most: 1024 ** 3 });
    return await said.then(
      (text) => ({ text, conflicts: 0 }),
      (error: unknown) => {
        // The exit code of git merge-file is the number of conflicts; 255 is a failure.
        const { code, stdout } = error as { readonly code?: unknown; readonly stdout?: unknown };
        if (typeof code === "number" && code > 0 && code < 128 && typeof stdout === "string")
          return { text: stdout, conflicts: code };
        throw new WorkspaceError("system", "git could not merge the two.", { cause: error });
      },
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
